"""Every difference between QEMU's controller and the drive in RTL with its firmware, each with its reason.

They are those of the target over TCP and a few of the hardware. Reports shorter than their header are refused
by both. A difference that no row explains fails the test, and so does a row that explains none.
"""

from flashtrain.nvme.subsystem.profile import PCIE
from flashtrain.spec import Opcode

from .difference import Aspect, Case, Difference, Judge
from .differences import DIFFERENCES, OF_SHORT_REPORTS

_STATUS = Aspect.STATUS


def _exceeds(case: Case) -> bool:
    """Whether the data are longer than MDTS says."""
    return case.trial.length > case.shape.most_blocks * case.shape.block_bytes


_OF_HARDWARE = (
    Difference(
        "long reports", _STATUS, Judge.OURS_DEVIATES,
        lambda c: c.io and c.entry.opcode == Opcode.ZONE_MANAGEMENT_RECEIVE and _exceeds(c)
        and c.statuses == (0x002, 0x000),
        "MDTS is the least limit of the blocks of a command. That of a report is the room of a slot.",
    ),
    Difference(
        "commands that are too long and outside", _STATUS, Judge.BOTH_ALLOWED,
        lambda c: c.io and c.entry.opcode in (Opcode.READ, Opcode.WRITE, Opcode.ZONE_APPEND)
        and c.entry.blocks > c.shape.most_blocks and c.statuses == (0x002, 0x080),
        "The command has two errors, and the standard has no order of them.",
    ),
)  # fmt: skip

_WITHOUT_SGLS = (
    Difference(
        "no SGLs", Aspect.FACT, Judge.BOTH_ALLOWED, lambda c: c.fact == "SGLS: supported",
        "A controller of memory need not have them (Base 5.17.2.1).",
    ),
)  # fmt: skip

DRIVE_DIFFERENCES: tuple[Difference, ...] = (
    *_OF_HARDWARE, *(() if PCIE.sgls else _WITHOUT_SGLS),
    *(row for row in DIFFERENCES if row not in OF_SHORT_REPORTS),
)  # fmt: skip
