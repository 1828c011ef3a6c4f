"""What a training run keeps in memory, byte by byte, with the source of every figure. Standard library only."""

from .errors import ConfigError, InvalidInput, MeshError, RecipeError, UnitError
from .models import Tensor, TransformerShape
from .units import GB, GIB, format_bytes, format_count, parse_bytes, parse_count
