"""The arithmetic of optimizer steps in NumPy, bit for bit as in hardware.

`float32` is what IEEE-754 units compute and NumPy does not offer; `update` interprets the micro-programs of
`flashtrain.spec.optimizer`; `statistics` is what an update unit counts of the gradients. The model of the
device and the reference optimizers compute with the same functions. Two are not of the optimizers:
`page_codec` is the error correction of `flashtrain.spec.ecc`, and `codec` the window code of
`flashtrain.spec.codec`.
"""

from .constants import Constants
from .errors import HyperparameterError, OperandError
from .statistics import Statistics, Totals, statistics
from .update import Update, copy_of, gradient_values, gradients_in, update

__all__ = [
    "Constants", "HyperparameterError", "OperandError", "Statistics", "Totals", "Update", "copy_of",
    "gradient_values", "gradients_in", "statistics", "update",
]  # fmt: skip
