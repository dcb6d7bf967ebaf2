"""Profiles: what a controller offers because of its transport, as tables. All else is the same in each.

NVM Express Base 2.0, section 3.1.2 (commands, log pages and features by the type of a controller).
"""

import struct
from dataclasses import dataclass

from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.spec.pcie import SGLS

from .features import Feature
from .log_format import LogPage

IN_CAPSULE_BYTES = 16 << 10
KEEP_ALIVE_GRANULARITY = 10  # in units of 100 ms
_CAPSULES = struct.pack("<IIHBBH", (64 + IN_CAPSULE_BYTES) // 16, 1, 0, 0, 1, 0)
_SGLS = 1 | 1 << 20
_LONG_HOST_IDENTIFIERS, _ANY_COMMAND_KEEPS_ALIVE = 1, 1 << 6

_OF_MEMORY = (
    AdminOpcode.DELETE_SQ, AdminOpcode.CREATE_SQ, AdminOpcode.DELETE_CQ, AdminOpcode.CREATE_CQ,
)  # fmt: skip
_OF_FABRICS = (AdminOpcode.KEEP_ALIVE, AdminOpcode.FABRICS)


@dataclass(frozen=True)
class Profile:
    """One kind of controllers.

    - opcodes, pages, features: that it has.
    - page_exponents: CAP.MPSMAX, the largest page as a power of two of 4 KiB. weighted: CAP.AMS.
    - attributes: CTRATT. keep_alive: KAS, in units of 100 ms; 0: no timer. sgls: SGLS.
    - capsules: Identify Controller from byte 1792 on, where sizes of capsules are.
    """

    opcodes: tuple[AdminOpcode, ...]
    pages: tuple[LogPage, ...]
    features: tuple[Feature, ...]
    page_exponents: int = 0
    weighted: bool = False
    attributes: int = 0
    keep_alive: int = 0
    sgls: int = 0
    capsules: bytes = b""


FABRICS = Profile(
    opcodes=tuple(one for one in AdminOpcode if one not in _OF_MEMORY),
    pages=tuple(page for page in LogPage if page != LogPage.DISCOVERY),
    features=tuple(
        one for one in Feature if one not in (Feature.INTERRUPT_COALESCING, Feature.INTERRUPT_VECTOR)
    ),
    attributes=_LONG_HOST_IDENTIFIERS | _ANY_COMMAND_KEEPS_ALIVE,
    keep_alive=KEEP_ALIVE_GRANULARITY,
    sgls=_SGLS,
    capsules=_CAPSULES,
)
"""An I/O controller of NVMe over Fabrics."""

DISCOVERY = Profile(
    opcodes=(
        AdminOpcode.GET_LOG_PAGE, AdminOpcode.IDENTIFY, AdminOpcode.SET_FEATURES, AdminOpcode.GET_FEATURES,
        AdminOpcode.KEEP_ALIVE, AdminOpcode.ASYNC_EVENT_REQUEST, AdminOpcode.FABRICS,
    ),
    pages=(LogPage.SUPPORTED, LogPage.EFFECTS, LogPage.FEATURES, LogPage.DISCOVERY),
    # All others are prohibited for it (NVM Express Base 2.1, Figure 32).
    features=(Feature.ASYNC_EVENTS, Feature.KEEP_ALIVE),
    keep_alive=KEEP_ALIVE_GRANULARITY,
    sgls=_SGLS,
    capsules=_CAPSULES,
)  # fmt: skip
"""A discovery controller of NVMe over Fabrics."""

PCIE = Profile(
    opcodes=tuple(one for one in AdminOpcode if one not in _OF_FABRICS),
    pages=FABRICS.pages,
    features=tuple(
        one for one in Feature if one not in (Feature.KEEP_ALIVE, Feature.HOST_IDENTIFIER)
    ),
    page_exponents=4,
    weighted=True,
    sgls=SGLS,
)  # fmt: skip
"""An I/O controller with queues in the memory of its host. I/O commands have PRPs or SGLs."""
