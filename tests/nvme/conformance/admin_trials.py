"""Random admin commands that a controller on PCI Express and one behind a fabric both have."""

from collections.abc import Callable
from random import Random

from flashtrain.nvme.subsystem.features import Feature
from flashtrain.nvme.subsystem.identify import STRUCTURE_BYTES, Structure
from flashtrain.nvme.subsystem.log_format import LogPage
from flashtrain.nvme.subsystem.profile import FABRICS
from flashtrain.nvme.wire.commands import AdminOpcode, Entry
from flashtrain.spec.host_commands import EVERY_NAMESPACE

from .shape import Shape
from .trial import Queue, Trial

_OTHER_OPCODES = (0x03, 0x07, 0x0B, 0x0E, 0x12, 0x16, 0x1B, 0x50, 0x85, 0xC0, 0xFF)
_FEATURES = (
    *(one for one in FABRICS.features if one not in (Feature.KEEP_ALIVE, Feature.HOST_IDENTIFIER)),
    *3 * [Feature.TEMPERATURE_THRESHOLD],
    0x00,
    0x7D,
    0xD0,
)
_LISTS = (Structure.ACTIVE_NAMESPACES, Structure.ACTIVE_NAMESPACES_OF_SET)
_DULBE = 1 << 16
THEIR_THRESHOLD = 0x157
"""The temperature threshold that QEMU's controller begins with, in kelvins."""
_SAVE = 1 << 31


class AdminTrials:
    """Commands whose NSIDs and limits are those of `shape`, and others."""

    def __init__(self, random: Random, shape: Shape) -> None:
        self._random = random
        self._namespaces = [
            *shape.zones,
            *shape.zones,
            0,
            0,
            2,
            200,
            300,
            EVERY_NAMESPACE - 1,
            EVERY_NAMESPACE,
        ]
        self._most = 4096 << shape.exponent
        self._kinds: dict[Callable[[int], Trial], int] = {
            self._identify: 10, self._log_page: 7, self._get_feature: 6, self._set_feature: 6, self._abort: 1,
            self._wrong_opcode: 1,
        }  # fmt: skip

    def next(self) -> Trial:
        make = self._random.choices(list(self._kinds), list(self._kinds.values()))[0]
        return make(self._random.choice(self._namespaces))

    def _identify(self, nsid: int) -> Trial:
        r = self._random
        structure = r.choice([*Structure, *Structure, *_LISTS, 0x04, 0x09, 0x10, 0x11, 0x12, 0x1F, 0x80])
        command_set = r.choice([0, 2, 2, 1, 3, 0xFF])
        if structure in _LISTS:
            nsid = r.choice([0, nsid, EVERY_NAMESPACE])
        entry = Entry(AdminOpcode.IDENTIFY, 0, nsid=nsid, dword_10=structure, dword_11=command_set << 24)
        return Trial("identify", Queue.ADMIN, entry, length=STRUCTURE_BYTES)

    def _log_page(self, nsid: int) -> Trial:
        r = self._random
        page = r.choice(
            [
                *(one for one in LogPage if one not in (LogPage.DISCOVERY, LogPage.NOTE)),
                LogPage.ERRORS,
                LogPage.HEALTH,
                LogPage.EFFECTS,
                0x06,
                0x80,
                0xFF,
            ]
        )
        dwords = r.choice([r.randint(1, 128), 128, 1024, self._most // 4 + 1])
        offset = r.choice([0, 0, 4 * r.randrange(128), 4 * r.randrange(128), 2, 1 << 20, 1 << 20])
        entry = Entry(
            AdminOpcode.GET_LOG_PAGE, 0, nsid=r.choice([0, nsid, EVERY_NAMESPACE, EVERY_NAMESPACE]),
            dword_10=page | dwords - 1 << 16, dword_12=offset, dword_14=r.choice([0, 2, 5]) << 24,
        )  # fmt: skip
        return Trial("log page", Queue.ADMIN, entry, length=4 * dwords)

    def _get_feature(self, nsid: int) -> Trial:
        r = self._random
        select = r.choice([0, 0, 0, r.randint(1, 7)])
        feature = r.choice(_FEATURES)
        entry = Entry(AdminOpcode.GET_FEATURES, 0, nsid=nsid, dword_10=feature | select << 8)
        return Trial("get feature", Queue.ADMIN, entry)

    def _set_feature(self, nsid: int) -> Trial:
        r = self._random
        feature = Feature.ERROR_RECOVERY if r.random() < 0.5 else r.choice(_FEATURES)
        if feature == Feature.TEMPERATURE_THRESHOLD:
            nsid = r.choice([0, nsid, EVERY_NAMESPACE])
        save = _SAVE if r.random() < 0.1 else 0
        match feature:
            case Feature.ERROR_RECOVERY:
                value = r.choice([0, _DULBE])
            case Feature.QUEUES:
                value = r.choice([0x0007_0007, 0xFFFF_0000, 0x0000_FFFF, 0x0003_0003])
            case Feature.VOLATILE_WRITE_CACHE:
                value = 1
            case Feature.TEMPERATURE_THRESHOLD:
                value = THEIR_THRESHOLD
            case _:
                value = 0
        entry = Entry(AdminOpcode.SET_FEATURES, 0, nsid=nsid, dword_10=feature | save, dword_11=value)
        return Trial("set feature", Queue.ADMIN, entry)

    def _abort(self, _: int) -> Trial:
        entry = Entry(AdminOpcode.ABORT, 0, dword_10=self._random.choice([0, 1]) | 0xFFF0 << 16)
        return Trial("abort", Queue.ADMIN, entry)

    def _wrong_opcode(self, nsid: int) -> Trial:
        return Trial("wrong opcode", Queue.ADMIN, Entry(self._random.choice(_OTHER_OPCODES), 0, nsid=nsid))
