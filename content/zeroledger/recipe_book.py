"""The recipes we know, each with its source and whom it describes."""

from .recipes import NEVER, Recipe, RecipeRow

ADAM_MIXED = Recipe(
    "adam-mixed",
    (RecipeRow("params", "bf16", 2, 3), RecipeRow("grads", "bf16", 2, 2), RecipeRow("master_params", "fp32", 4, 1),
     RecipeRow("exp_avg", "fp32", 4, 1), RecipeRow("exp_avg_sq", "fp32", 4, 1)),
    "arXiv:1910.02054 sec. 3.1 (ZeRO): 2Ψ + 2Ψ + 12Ψ; measured with DeepSpeed 0.19.8 bf16: 16.000 after backward",
    "Mixed-precision Adam as ZeRO counts it and as a DeepSpeed bf16 run holds it: 16 bytes per parameter.",
)

ALL_RECIPES = (ADAM_MIXED,)
RECIPES = {each.name: each for each in ALL_RECIPES}
