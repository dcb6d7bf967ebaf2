"""Check 5 of `flashtrain.spec.nvme`: the fields of a command, by its opcode."""

from collections.abc import Callable

from flashtrain.spec import FmsConfig, Opcode, ZoneAction
from flashtrain.spec.identity import RESTORED_STATES, RestoreAction
from flashtrain.spec.nvme import RETIRED, GenerationAction, ReportFilter, ReportHeader, ZoneReport
from flashtrain.spec.streams import Codec

from .streams import StreamSettings
from .submission_entry import SubmissionEntry

_ACTIONS = frozenset(ZoneAction)
_GENERATION_ACTIONS = frozenset(GenerationAction)
_RESTORE_ACTIONS = frozenset(RestoreAction)
_FILTERS = frozenset(ReportFilter)


class Fields:
    """The rules of fields for one configuration and stream table (by NSID)."""

    def __init__(self, config: FmsConfig, streams: dict[int, StreamSettings]) -> None:
        self._config = config
        self._streams = streams
        self._zone_size = config.geometry.zone_size
        self._rules: dict[int, Callable[[SubmissionEntry], bool]] = {
            Opcode.READ: self._read,
            Opcode.WRITE: self._fits,
            Opcode.ZONE_APPEND: self._append,
            Opcode.ZONE_MANAGEMENT_SEND: self._send,
            Opcode.ZONE_MANAGEMENT_RECEIVE: self._receive,
            Opcode.ZONE_RETIRE: self._retire,
            Opcode.UPDATE: self._update,
            Opcode.GENERATION: self._generation,
            Opcode.SET_CONSTANTS: self._block_per_die,
            Opcode.GET_STATISTICS: self._block_per_die,
            Opcode.INSPECT: self._fits,
            Opcode.RESTORE: self._restore,
        }

    def valid(self, entry: SubmissionEntry) -> bool:
        """Whether the fields are those of a command. NSID and SOURCE exist."""
        rule = self._rules.get(entry.opcode)
        return rule is None or rule(entry)

    def _fits(self, entry: SubmissionEntry) -> bool:
        """Whether the blocks are within the transfer limit."""
        return entry.blocks <= self._config.max_blocks

    def _at_start(self, entry: SubmissionEntry) -> bool:
        """Whether SLBA is the start of a zone."""
        return not entry.slba % self._zone_size

    def _read(self, entry: SubmissionEntry) -> bool:
        raw = self._streams[entry.nsid].codec is Codec.RAW
        if not self._fits(entry) or not (raw or entry.expanded <= self._config.max_blocks):
            return False
        if not self._config.part_bytes:
            return True
        if not entry.parts:
            return entry.first_part == 0
        return entry.blocks == 1 and entry.first_part + entry.parts <= self._config.page_parts

    def _append(self, entry: SubmissionEntry) -> bool:
        codec = entry.codec(self._streams[entry.nsid].codec)
        bound = self._config.coded_bound(entry.blocks, codec)
        return self._fits(entry) and bound <= self._config.max_blocks and self._at_start(entry)

    def _send(self, entry: SubmissionEntry) -> bool:
        return entry.action in _ACTIONS and (entry.select_all or self._at_start(entry))

    def _receive(self, entry: SubmissionEntry) -> bool:
        return (
            entry.action == ZoneReport.REPORT_ZONES
            and entry.report_options in _FILTERS
            and entry.report_bytes >= ReportHeader.BYTES
        )

    def _retire(self, entry: SubmissionEntry) -> bool:
        return self._at_start(entry) and entry.action in RETIRED

    def _update(self, entry: SubmissionEntry) -> bool:
        g = self._config.geometry
        return (
            self._fits(entry)
            and self._at_start(entry)
            and self._source_as_large(entry)
            and 1 <= entry.pages <= g.planes
            and entry.copies <= entry.pages
            and entry.rows >= 1
            and entry.source_page < g.pages
            and entry.blocks == entry.rows * g.channels * entry.pages
        )

    def _generation(self, entry: SubmissionEntry) -> bool:
        known = entry.action in _GENERATION_ACTIONS
        return known and (not entry.commits or self._source_as_large(entry))

    def _source_as_large(self, entry: SubmissionEntry) -> bool:
        """Whether the source has as many zones as the namespace."""
        return self._streams[entry.source].zones == self._streams[entry.nsid].zones

    def _block_per_die(self, entry: SubmissionEntry) -> bool:
        g = self._config.geometry
        return self._fits(entry) and entry.blocks == g.channels * g.dies

    def _restore(self, entry: SubmissionEntry) -> bool:
        g = self._config.geometry
        match entry.action:
            case RestoreAction.ZONE:
                return entry.physical < g.zones and entry.restored_state in RESTORED_STATES
            case RestoreAction.PHYSICAL:
                return entry.physical < g.blocks
            case RestoreAction.BLOCK:
                return (
                    entry.physical < g.blocks
                    and entry.channel < g.channels
                    and entry.die < g.dies
                    and entry.plane < g.planes
                    and entry.spare < g.spare_blocks
                )
        return entry.action in _RESTORE_ACTIONS
