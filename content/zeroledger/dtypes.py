"""Number formats by the short names this package uses, and the bytes of one element."""

from .errors import InvalidInput, check_choice

DTYPE_BYTES = {"fp64": 8, "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "uint8": 1}


def dtype_bytes(dtype, field="dtype"):
    """Bytes of one element of ``dtype`` ("bf16", "fp32" …). Raises ``InvalidInput`` naming ``field``."""
    return DTYPE_BYTES[check_choice(field, dtype, DTYPE_BYTES, InvalidInput)]
