"""What a training run keeps in memory, byte by byte, with the source of every figure. Standard library only."""

from .adapters import lora_params
from .cards import CARDS, Card
from .errors import ConfigError, InvalidInput, MeshError, RecipeError, UnitError
from .hf_config import model_from_hf_config
from .ledger import Ledger, LedgerRow, ledger
from .models import Tensor, TransformerShape
from .presets import PRESETS, ModelPreset, preset
from .recipe_book import ADAM_MIXED, RECIPES
from .recipes import Recipe, RecipeRow, recipe
from .units import GB, GIB, format_bytes, format_count, parse_bytes, parse_count
