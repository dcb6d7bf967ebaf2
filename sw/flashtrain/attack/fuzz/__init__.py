"""Attacks a device with random and mutated commands, and judges every answer by an oracle.

`oracle/` says what the contract demands. `Director` makes batches of commands whose answers the oracle can
tell beforehand (`batch`: how that is possible though they overlap). `Stage` submits them to every device, and
looks at each completion, at every byte of the tensor buffer, and at the clocks that it took.
"""

from .disagreement import Disagreement
from .run import Fuzz, Tally

__all__ = ["Disagreement", "Fuzz", "Tally"]
