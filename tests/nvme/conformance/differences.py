"""Every difference between QEMU's controller and the target, each with its reason.

A difference that no row explains fails the test, and so does a row that explains none. "QEMU" is that of
Debian 12, version 7.2; its source is hw/nvme/ctrl.c. Sections are those of `docs/nvme.md`.
"""

from flashtrain.nvme.subsystem.features import Feature
from flashtrain.nvme.subsystem.identify import Structure
from flashtrain.nvme.subsystem.log_format import LogPage
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.spec import Opcode, ZoneState
from flashtrain.spec.host_commands import EVERY_NAMESPACE

from .difference import Aspect, Case, Difference, Judge
from .zones import Zones, count, is_open_of_all

THEIR_NAMESPACES = 256
"""NN of QEMU's controller."""


def _unused_here(case: Case) -> bool:
    """An NSID up to their NN and above ours."""
    return case.last_namespace < case.entry.nsid <= THEIR_NAMESPACES


def _of_a_namespace(case: Case) -> bool:
    """Whether the command has an NSID that counts."""
    if case.io:
        return True
    structures = (Structure.NAMESPACE, Structure.NAMESPACE_DESCRIPTORS, Structure.NAMESPACE_OF_SET)
    if case.admin(AdminOpcode.IDENTIFY):
        return case.entry.dword_10 in structures
    return case.admin(AdminOpcode.SET_FEATURES) or case.admin(
        AdminOpcode.GET_FEATURES, Feature.ERROR_RECOVERY
    )


def _controller_facts(case: Case) -> bool:
    return case.admin(AdminOpcode.IDENTIFY, Structure.CONTROLLER)


def _send(case: Case, action: int) -> bool:
    return (
        case.io and case.entry.opcode == Opcode.ZONE_MANAGEMENT_SEND and case.entry.dword_13 & 0xFF == action
    )


def _every(case: Case) -> bool:
    return bool(case.entry.dword_13 & 0x100)


def _same_but_for_closed(case: Case) -> bool:
    """Whether zones differ only in which of the implicitly open ones were closed."""
    kinds = {ZoneState.IMPLICITLY_OPEN, ZoneState.CLOSED}
    return all(
        a == b or ({a.state, b.state} == kinds and a.written == b.written)
        for a, b in zip(*case.zones, strict=True)
    )


def open_implicitly(zones: Zones) -> int:
    return count(zones, (ZoneState.IMPLICITLY_OPEN,))


def _opened_some(case: Case) -> bool:
    """Whether they have opened closed zones, and closed implicitly open ones for it; ours are as before."""
    return case.zones[1] == case.before and all(
        a == b or (b.state in (ZoneState.CLOSED, ZoneState.IMPLICITLY_OPEN) and a.written == b.written)
        for a, b in zip(*case.zones, strict=True)
    )


_STATUS, _FACT, _RESULT = Aspect.STATUS, Aspect.FACT, Aspect.RESULT
_QEMU, _BOTH, _OURS = Judge.QEMU_DEVIATES, Judge.BOTH_ALLOWED, Judge.OURS_DEVIATES
_GET, _SET = AdminOpcode.GET_FEATURES, AdminOpcode.SET_FEATURES
_WITHOUT_CHOICE = (Feature.ARBITRATION, Feature.POWER_MANAGEMENT, Feature.WRITE_ATOMICITY)
_IDENTIFY, _LOG = AdminOpcode.IDENTIFY, AdminOpcode.GET_LOG_PAGE

OF_ANY_DEVICE = (
    Difference(
        "fused commands without DNR", Aspect.DO_NOT_RETRY, _BOTH,
        lambda c: c.io and bool(c.entry.flags & 3) and c.statuses == (0x002, 0x002) and c.ours.do_not_retry,
        "QEMU leaves DNR out. The same command fails again, so DNR may be set (Base 3.3.3.2).",
    ),
    Difference(
        "result of a refused append", _RESULT, _BOTH,
        lambda c: c.io and c.entry.opcode == Opcode.ZONE_APPEND and bool(c.ours.status) and not c.ours.result,
        "QEMU has the write pointer in it. Only a successful append has a result (ZNS 3.4.1).",
    ),
    Difference(
        "optional I/O commands", _STATUS, _BOTH,
        lambda c: c.io and c.entry.opcode in (0x05, 0x09, 0x0C) and c.ours.status == 0x001,
        "Compare, dataset management and verify are optional, and the target has none of them.",
    ),
    Difference(
        "zone action 11h", _STATUS, _BOTH,
        lambda c: _send(c, 0x11) and c.statuses == (0x1B6, 0x002),
        "QEMU knows the flush of a random write area, of which its namespaces have none. Ours does not.",
    ),
    Difference(
        "a block that is outside and no zone's first", _STATUS, _BOTH,
        lambda c: c.io and c.entry.opcode == Opcode.ZONE_MANAGEMENT_SEND and not _every(c)
        and c.entry.nsid in c.shape.zones and c.entry.slba >= c.shape.blocks(c.entry.nsid)
        and c.entry.slba % c.shape.zone_size != 0
        and c.statuses == (0x080, 0x002),
        "The command has two errors, and the standard has no order of them.",
    ),
)  # fmt: skip
"""Of the device without a target, too."""

OF_SHORT_REPORTS = (
    Difference(
        "report shorter than its header", _STATUS, _QEMU,
        lambda c: c.io and c.entry.opcode == Opcode.ZONE_MANAGEMENT_RECEIVE and c.trial.length < 64
        and c.statuses == (0x002, 0x000),
        "QEMU refuses it. ZNS 3.4.2 has no least number of dwords.",
    ),
)  # fmt: skip

_OF_NAMESPACES = (
    Difference(
        "NSIDs between both NN", _STATUS, _BOTH,
        lambda c: _unused_here(c) and _of_a_namespace(c) and c.ours.status == 0x00B,
        "NN of QEMU is 256, that of the target its last NSID. An NSID above NN is invalid (Base 3.2.1.2).",
    ),
    Difference(
        "NN", _FACT, _BOTH, lambda c: c.fact == "NN" and _controller_facts(c),
        "A controller chooses the range of its NSIDs (Base 3.2.1).",
    ),
    Difference(
        "capacity of a namespace", _FACT, _BOTH, lambda c: c.fact in ("NCAP", "NUSE"),
        "QEMU counts the blocks between a zone's capacity and its size, which no host can write (ZNS 2.1.1).",
    ),
    Difference(
        "optional commands of the controller", _FACT, _BOTH,
        lambda c: c.fact == "ONCS" and _controller_facts(c),
        "QEMU has more optional commands, and the select field of Get Features.",
    ),
    Difference(
        "health of a namespace", _FACT, _BOTH,
        lambda c: c.fact == "LPA: health of namespaces" and _controller_facts(c),
        "A controller may have the page for namespaces, too: LPA bit 0 (Base 5.16.1.3).",
    ),
    Difference(
        "health log page of a namespace", _STATUS, _BOTH,
        lambda c: c.admin(_LOG, LogPage.HEALTH) and c.entry.nsid not in (0, EVERY_NAMESPACE)
        and c.ours.status == 0x002 and c.theirs.status in (0x000, 0x00B),
        "The target has it for the controller only, and says so in LPA bit 0 (Base 5.16.1.3).",
    ),
)  # fmt: skip

_OF_ADMIN = (
    Difference(
        "reserved log pages", _STATUS, _QEMU,
        lambda c: c.admin(_LOG) and c.entry.dword_10 & 0xFF in (0x06, 0x80, 0xFF)
        and c.statuses == (0x002, 0x109),
        "QEMU answers invalid field. The status of a log page that does not exist is 109h (Base 5.16).",
    ),
    Difference(
        "changed zones log page", _STATUS, _BOTH,
        lambda c: c.admin(_LOG, LogPage.CHANGED_ZONES) and c.theirs.status == 0x002,
        "QEMU has no changed zone list, which is optional (ZNS 4.1.4).",
    ),
    Difference(
        "supported log pages, features and management commands", _STATUS, _BOTH,
        lambda c: c.admin(_LOG) and c.theirs.status == 0x002
        and c.entry.dword_10 & 0xFF in (LogPage.SUPPORTED, LogPage.FEATURES, LogPage.MANAGEMENT),
        "QEMU has the log pages of revision 1.4, and these are of 2.0 (Base 5.16.1.1, 5.16.1.17, 5.16.1.18).",
    ),
    Difference(
        "Identify, CNS 08h", _STATUS, _BOTH,
        lambda c: c.admin(_IDENTIFY, Structure.INDEPENDENT_NAMESPACE) and c.theirs.status == 0x002,
        "QEMU has the structures of revision 1.4, and this one is of 2.0 (Base 5.17.2.9).",
    ),
    Difference(
        "Identify, list of controllers", _STATUS, _BOTH,
        lambda c: c.admin(_IDENTIFY, Structure.CONTROLLERS) and c.theirs.status == 0x002,
        "QEMU lists the controllers of a subsystem, and this one belongs to none (Base 5.17.2.15).",
    ),
    Difference(
        "Identify, lists of allocated namespaces", _STATUS, _BOTH,
        lambda c: c.admin(_IDENTIFY) and c.entry.dword_10 in (0x10, 0x11, 0x12) and c.ours.status == 0x002,
        "These structures belong to namespace management, which the target does not have.",
    ),
    Difference(
        "effects of commands of an unknown set", _STATUS, _BOTH,
        lambda c: c.admin(_LOG, LogPage.EFFECTS) and c.entry.dword_14 >> 24 == 5
        and c.statuses == (0x000, 0x109),
        "QEMU lists the admin commands. The target has no page of a command set that it does not have.",
    ),
    Difference(
        "length of the error log", _STATUS, _BOTH,
        lambda c: c.admin(_LOG, LogPage.ERRORS) and c.entry.dword_12 >= 64 and c.statuses == (0x002, 0x000),
        "QEMU keeps one entry and the target 64, each as its ELPE says (Base 5.16.1.2).",
    ),
    Difference(
        "behind the effects of an unknown command set", _STATUS, _BOTH,
        lambda c: c.admin(_LOG, LogPage.EFFECTS) and c.entry.dword_14 >> 24 == 5 and c.entry.dword_12 > 4096
        and c.statuses == (0x002, 0x109),
        "The command has two errors, and the standard has no order of them.",
    ),
    Difference(
        "health log page of NSID 0", _STATUS, _QEMU,
        lambda c: c.admin(_LOG, LogPage.HEALTH) and c.entry.nsid == 0 and c.statuses == (0x00B, 0x000),
        "QEMU takes it for a namespace. It is the controller's page, as with FFFFFFFFh (Base 5.16.1.3).",
    ),
    Difference(
        "list behind the last NSID of an unknown command set", _STATUS, _BOTH,
        lambda c: c.admin(_IDENTIFY, Structure.ACTIVE_NAMESPACES_OF_SET)
        and c.entry.dword_11 >> 24 not in (0, 2) and c.entry.nsid >= EVERY_NAMESPACE - 1
        and c.statuses == (0x00B, 0x002),
        "The command has two errors, and the standard has no order of them.",
    ),
    Difference(
        "reserved values of Select", _STATUS, _BOTH,
        lambda c: c.admin(_GET) and c.entry.dword_10 >> 8 & 7 > 3 and c.ours.status == 0x002,
        "QEMU takes them for others. A reserved value is an invalid field (Base 5.15).",
    ),
    Difference(
        "features without a choice", _STATUS, _BOTH,
        lambda c: c.admin(_SET) and not c.entry.dword_11 and c.statuses == (0x10E, 0x000)
        and c.entry.dword_10 & 0xFF in _WITHOUT_CHOICE,
        "QEMU refuses each value, the target all but the present one.",
    ),
    Difference(
        "Get Features, select", _RESULT, _BOTH,
        lambda c: c.admin(_GET) and bool(c.entry.dword_10 >> 8 & 7) and not c.theirs.status,
        "The target has the current value only: ONCS bit 4 is 0, and the field is reserved (Base 5.15).",
    ),
    Difference(
        "arbitration burst", _RESULT, _BOTH,
        lambda c: c.admin(_GET, Feature.ARBITRATION) and (c.theirs.result, c.ours.result) == (7, 0),
        "A default is the controller's choice (Base 5.27.1.1).",
    ),
)  # fmt: skip

OF_OPEN_ZONES = (
    Difference(
        "zone closed for a command that fails", Aspect.ZONES, _BOTH,
        lambda c: c.statuses == (0x1BD, 0x1BD) and _same_but_for_closed(c)
        and open_implicitly(c.zones[0]) + 1 == open_implicitly(c.zones[1]),
        "QEMU makes room among the open zones before it counts the active ones. A controller may close an "
        "implicitly open zone at any time (ZNS 2.1.1.4.1).",
    ),
    Difference(
        "open of all zones without enough resources", Aspect.ZONES, _QEMU,
        lambda c: is_open_of_all(c.entry) and c.statuses == (0x1BE, 0x1BE) and _opened_some(c),
        "QEMU opens as many zones as it can before it fails. The command opens all or none (ZNS 3.4.3.1.3).",
    ),
    Difference(
        "choice of the zone that is closed", Aspect.ZONES, _BOTH,
        lambda c: _same_but_for_closed(c) and open_implicitly(c.zones[0]) == open_implicitly(c.zones[1]),
        "QEMU closes the zone that was opened first, the target the first of the report (ZNS 2.1.1.4.1).",
    ),
    Difference(
        "open of all zones by closing others", _STATUS, _BOTH,
        lambda c: is_open_of_all(c.entry) and c.statuses == (0x000, 0x1BE) and open_implicitly(c.before) > 0,
        "QEMU closes implicitly open zones and opens those that were closed before. A controller need not "
        "close any, and the command is for all closed zones (ZNS 2.1.1.4.1, 3.4.3.1.3).",
    ),
    Difference(
        "zones opened by closing others", Aspect.ZONES, _BOTH,
        lambda c: is_open_of_all(c.entry) and c.statuses == (0x000, 0x1BE) and _opened_some(c),
        "These are the zones after such a command.",
    ),
)  # fmt: skip
"""Of the device without a target, too."""

DIFFERENCES: tuple[Difference, ...] = (
    *OF_ANY_DEVICE, *OF_SHORT_REPORTS, *_OF_NAMESPACES, *_OF_ADMIN, *OF_OPEN_ZONES,
)  # fmt: skip
