"""A die's logic behind its pins: command decoder, sequencer, page registers."""

from .array_port import ArrayOp, ArrayPort
from .die import Die

__all__ = ["ArrayOp", "ArrayPort", "Die"]
