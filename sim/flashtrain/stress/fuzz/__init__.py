"""Attacks a device with random and mutated commands, and judges every answer by an oracle.

`oracle/` is the contract as a program. `Director` makes batches of commands whose answers the oracle predicts
although the commands overlap (`batch` says how). `Stage` submits them to every device. It checks each
completion, every byte of the tensor buffer, and the number of cycles.
"""

from .disagreement import Disagreement
from .run import Fuzz, Tally

__all__ = ["Disagreement", "Fuzz", "Tally"]
