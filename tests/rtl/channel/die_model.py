"""How a die behaves, operation by operation: what keeps it busy, what it holds, what it must not be asked.

A twin of `flashtrain.rtl.die` above its pins, written from ONFI 5.1 and `flashtrain.spec.update` alone. It
computes no values. Every breach is an AssertionError.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp, DieStatus

Page = tuple[int, int, int]
"""Block, page within the block, plane."""

COPY, STATISTICS = -1, -2
"""Instead of a block in what has been output: then the number of the update and of the page, or nothing."""

READS = {BusOp.READ_MORE, BusOp.READ_LAST, BusOp.CACHE_READ_LAST}
PROGRAMS = {BusOp.PROGRAM_MORE, BusOp.PROGRAM_LAST}
ERASES = {BusOp.ERASE_MORE, BusOp.ERASE_LAST}
MORE = {BusOp.READ_MORE, BusOp.PROGRAM_MORE, BusOp.ERASE_MORE}
TARGETS = {BusOp.UPDATE_MORE, BusOp.UPDATE_LAST}
IN_SEQUENCE = {
    BusOp.LOAD_GRADIENT, BusOp.UPDATE_SOURCE, *TARGETS, BusOp.UPDATE_END,
    BusOp.SELECT_COPY, BusOp.SELECT_STATISTICS, BusOp.DATA_OUT,
}  # fmt: skip
"""What is allowed between an update and its end."""

SUSPENDED_READ = {
    BusOp.SUSPENDED_READ_MORE, BusOp.SUSPENDED_READ_LAST, BusOp.SUSPENDED_READ_NEXT,
    BusOp.SUSPENDED_READ_SELECT, BusOp.SUSPENDED_READ_END, BusOp.SUSPENDED_READ_RENEW,
}  # fmt: skip
"""What a die takes while it is busy with programs and erases."""


@dataclass
class ArrayWork:
    """Something the array did or does, from clock `begin` to `end`."""

    kind: str  # sense, program, erase; beside: a sense beside them; update: the program of a tile
    begin: int
    end: int
    pages: list[Page]
    failed: bool
    advances_from: int = 0  # since then it has not been suspended
    level: int = 0  # of a sense


@dataclass
class DieModel:
    """One die. `operation` is called when the bus operation ends, `status` when the byte is given.

    unit: cycles of the update unit for a tile; late(kind, cycles): how long the array, or the unit, takes
    instead of `cycles`; fails(kind, pages): whether it fails.
    """

    config: FmsConfig
    name: str
    late: Callable[[str, int], int] = lambda kind, cycles: cycles
    unit: int = 0
    fails: Callable[[str, list[Page]], bool] = lambda kind, pages: False
    works: list[ArrayWork] = field(default_factory=list)
    history: list[tuple[int, BusOp]] = field(default_factory=list)
    output: list[Page] = field(default_factory=list)
    suspended_reads: list[ArrayWork] = field(default_factory=list)
    polls: int = 0

    def __post_init__(self) -> None:
        cycles = self.config.timing.cycles
        names = ("twb", "tdbsy", "tcbsy", "tccs", "tadl", "trst", "trr", "tsusp", "tres", "tadv", "tfeat")
        self.cycles = {name: cycles(name) for name in names}
        self.array_cycles = {
            "sense": cycles("tr"), "program": cycles("tprog"), "update": cycles("tprog"),
            "erase": cycles("tbers"), "suspended_read": cycles("tr"),
        }  # fmt: skip
        self.ready_at = 0  # the die is busy until then
        self.status_from = 0  # and its status means something from then on
        self.seen_ready = False  # by a status byte since it was busy, or by a wait that ONFI allows
        self.was_reset = False
        self.gathered: list[Page] = []
        self.gathered_by: set[BusOp] = set()
        self.named: tuple[Page, int] | None = None  # whose data come next, and clock of the address
        self.cache: list[Page] = []  # pages that can be output
        self.sensed: list[Page] | None = None  # pages in, or on their way to, the data register
        self.selected: tuple[Page, int] | None = None  # what, and clock of the selection
        self.programming = False  # the array's last work is a cache program, not known to be over
        self.failed_before = False
        self.suspended_names: list[Page] = []
        self.suspended: list[Page] = []  # read beside: in, or on their way to, the data registers
        self.suspended_since: int | None = None  # they are held since then
        self.suspended_seen = False  # by a status byte
        self.gradients: list[int] = []  # pages loaded for the next update
        self.sources: list[Page] = []
        self.targets: list[Page] = []
        self.computed: list[Page] | None = None  # where the tile in the registers goes; none: no sequence
        self.updates = 0
        self.update_works_from: int | None = None  # the die is busy with an update that was sent then
        self.programmed_before = False  # the last tile's program has failed
        self.constants = 0  # times loaded
        self.level = 0

    @property
    def array_end(self) -> int:
        return self.works[-1].end if self.works else 0

    def ready(self, clock: int) -> bool:
        """RDY of the status, and R/B# once tWB has passed."""
        return clock >= self.ready_at and self._pending is None

    def busy_share(self, kind: str, begin: int, end: int) -> float:
        """Share of the cycles from `begin` to `end` in which the array does work of that kind."""
        spent = sum(min(w.end, end) - max(w.begin, begin) for w in self.works
                    if w.kind == kind and w.begin < end and w.end > begin)  # fmt: skip
        return spent / (end - begin)

    def status(self, clock: int) -> int:
        """The status byte; bits that are not valid are random."""
        assert clock >= self.status_from, f"{self.name} at {clock}: status before tWB"
        self.polls += 1
        assert self.named is None, f"{self.name} at {clock}: status between an address and its data"
        self.selected = None
        byte = (
            random.getrandbits(8) & ~(DieStatus.RDY | DieStatus.ARDY | DieStatus.SUSPENDED_READ)
            | DieStatus.WP_N
        )
        sensing = self.suspended_since is not None and clock < self.suspended_reads[-1].end
        if self.suspended_since is not None and not sensing:
            self.suspended_seen = True
            byte |= DieStatus.SUSPENDED_READ
        if not self.ready(clock):
            return byte
        self.seen_ready = True
        self.update_works_from = None
        byte = byte & ~DieStatus.FAILC | DieStatus.RDY | DieStatus.FAILC * self.failed_before
        if clock >= self.array_end and not sensing:
            failed = bool(self.works) and self.works[-1].failed
            byte = byte & ~DieStatus.FAIL | DieStatus.ARDY | DieStatus.FAIL * failed
            self.programming = False
        return byte

    def operation(self, op: BusOp, block: int, row: int, plane: int, clock: int, level: int = 0) -> None:
        """Perform `op`, whose last cycle or beat is in `clock`; `level` is that of SET_READ_LEVEL."""
        where = f"{self.name} at {clock}: {op.name}"
        self.history.append((clock, op))
        if op in (BusOp.STATUS, BusOp.STATUS_PLANE):
            return
        if op is BusOp.RESET:
            self.was_reset = True
            while self.works and self.works[-1].begin > clock:
                self.works.pop()
            if clock < self.array_end:
                self.works[-1].end = clock
            self.gathered, self.gathered_by, self.cache, self.sensed = [], set(), [], None
            self.named = None
            self.gradients, self.sources, self.targets, self.computed = [], [], [], None
            self.update_works_from = None
            self.suspended_names, self.suspended, self.suspended_since = [], [], None
            self.programming = False
            self.level = 0
            self._busy(clock, self.cycles["trst"])
            return
        assert self.was_reset, f"{where} before a reset"
        assert (self.named is not None) == (op in PROGRAMS), f"{where} after {self.named}"
        assert self.computed is None or op in IN_SEQUENCE, f"{where} within an update sequence"
        if op is BusOp.LOAD_GRADIENT and self.update_works_from is not None:
            self._load_gradient(plane, clock, where)
            return
        if op in SUSPENDED_READ:
            self._gather_suspended_read(op, (block, row, plane), clock, where)
            return
        if op is BusOp.DATA_OUT:
            assert self.selected is not None, f"{where}, and nothing is selected"
            selected, since = self.selected
            assert clock - self.config.bus_page_bytes // 2 - since >= self.cycles["tccs"], f"{where}: tCCS"
            self.output.append(selected)
            self.selected = None
            return
        assert clock >= self.ready_at and self._pending is None, f"{where} while busy until {self.ready_at}"
        assert self.seen_ready, f"{where}, and nobody has seen that it is ready"
        page = (block, row, plane)
        if op is BusOp.SELECT:
            assert page in self.cache, f"{where} of {page}, which is not among {self.cache}"
            self.selected = (page, clock)
            return
        self.selected = None
        if op is BusOp.SET_READ_LEVEL:
            self._needs_idle_array(clock, where)
            assert not self.gathered and not self.suspended_names and self.suspended_since is None, where
            assert self.sensed in (None, self.cache), f"{where} in a cache read"
            self.level = level
            self._busy(clock, self.cycles["tfeat"])
            return
        if op is BusOp.PROGRAM_PAGE:
            self.named = (page, clock)
            return
        if self.named is not None:
            page, since = self.named
            self.named = None
            begin = clock - self.config.bus_page_bytes // 2
            assert begin - since >= self.cycles["tadl"], f"{where}: tADL"
        if op in READS | PROGRAMS | ERASES:
            self._gather(op, page, clock, where)
        elif op is BusOp.CACHE_READ_NEXT:
            assert self.sensed, f"{where} without a read before"
            assert not self.gathered, f"{where} within a multi-plane command"
            self._cache_read(clock, [(b, r + 1, p) for b, r, p in self.sensed])
        elif op is BusOp.CACHE_READ_END:
            assert self.sensed and not self.gathered, f"{where} without a cache read"
            self._cache_read(clock, None)
        else:
            self._update(op, page, clock, where)

    @property
    def _pending(self) -> ArrayWork | None:
        """The work that waits for the end of a suspended read, besides other reasons."""
        if self.suspended_since is None or not self.works or self.works[-1].begin < self.suspended_since:
            return None
        return self.works[-1]

    def _gather_suspended_read(self, op: BusOp, page: Page, clock: int, where: str) -> None:
        assert clock >= self.status_from, f"{where}: tWB"
        assert self.sensed is None or self.sensed == self.cache, f"{where} in a cache read"
        self.selected = None
        if op is BusOp.SUSPENDED_READ_MORE or op is BusOp.SUSPENDED_READ_LAST:
            for _, row, plane in self.suspended_names:
                assert plane < page[2] and row == page[1], f"{where} of {page} after {self.suspended_names}"
            self.suspended_names.append(page)
        if op is BusOp.SUSPENDED_READ_LAST:
            self._begin_suspended_read(self.suspended_names, clock, where)
            self.suspended_names = []
        elif op is BusOp.SUSPENDED_READ_RENEW:
            self._gather_suspended_read(BusOp.SUSPENDED_READ_END, page, clock, where)
            self._gather_suspended_read(BusOp.SUSPENDED_READ_NEXT, page, clock, where)
        elif op is BusOp.SUSPENDED_READ_NEXT:
            assert self.suspended and not self.suspended_names, f"{where} without a suspended read before"
            self._begin_suspended_read([(b, r + 1, p) for b, r, p in self.suspended], clock, where)
        elif op is BusOp.SUSPENDED_READ_SELECT:
            assert self.suspended_since is not None and self.suspended_seen, (
                f"{where}: it is not known to be there"
            )
            assert page in self.suspended, f"{where} of {page}, which is not among {self.suspended}"
            self.selected = (page, clock)
        elif op is BusOp.SUSPENDED_READ_END:
            assert self.suspended_since is not None and self.suspended_seen, (
                f"{where}: it is not known to be there"
            )
            if pending := self._pending:
                late = max(clock - pending.begin, 0)
                pending.begin += late
                pending.end += late
                self.ready_at = max(self.ready_at, pending.begin)
            self.suspended_since = None

    def _begin_suspended_read(self, pages: list[Page], clock: int, where: str) -> None:
        """Suspends the program or erase under way, if it goes on for tADV."""
        assert self.suspended_since is None, f"{where} before the end of the one before"
        assert self.level == 0, f"{where} at level {self.level}"
        c, length = self.cycles, self.late("suspended_read", self.array_cycles["suspended_read"])
        begin, now = clock, next((w for w in self.works[-2:] if w.begin <= clock < w.end), None)
        if now is not None:
            assert now.kind in ("program", "erase"), f"{where} beside {now.kind}"
            if now.kind == "program":
                assert not set(pages) & set(now.pages), f"{where} of what is being programmed"
            else:
                assert not {(b, p) for b, _, p in pages} & {(b, p) for b, _, p in now.pages}, where
            begin = max(clock, max(now.begin, now.advances_from) + c["tadv"])
            if begin >= now.end:
                begin = now.end
            else:
                begin += c["tsusp"]
                longer = c["tsusp"] + length + c["tres"]
                now.advances_from = begin + length + c["tres"]
                if now.kind == "erase" or self.works[-1] is not now:
                    self.ready_at += longer
                now.end += longer
                for later in self.works[-1:]:
                    if later is not now:
                        later.begin += longer
                        later.end += longer
        self.suspended_reads.append(ArrayWork("suspended_read", begin, begin + length, pages, False))
        self.suspended, self.suspended_since, self.suspended_seen = pages, clock, False

    def _update(self, op: BusOp, page: Page, clock: int, where: str) -> None:
        if op is BusOp.SELECT_STATISTICS:
            self.selected = ((STATISTICS, 0, 0), clock)
        elif op is BusOp.SELECT_COPY:
            assert self.computed is not None and not self.sources, f"{where}, and there are none"
            self.selected = ((COPY, self.updates - 1, page[2]), clock)
        elif op is BusOp.LOAD_CONSTANTS:
            self._needs_idle_array(clock, where)
            self.constants += 1
        elif op is BusOp.LOAD_GRADIENT:
            if self.computed is None:
                self._needs_idle_array(clock, where)
            self._load_gradient(page[2], clock, where)
        elif op is BusOp.UPDATE_SOURCE:
            assert self.gradients, f"{where} without gradients"
            assert len(self.sources) == len(self.targets) == page[2], f"{where}: plane {page[2]}"
            self.sources.append(page)
        elif op in TARGETS:
            assert len(self.sources) == len(self.targets) + 1, f"{where} without a source"
            assert self.sources[-1][2] == page[2], f"{where}: {page}, and its source is {self.sources[-1]}"
            self.targets.append(page)
            assert (op is BusOp.UPDATE_LAST) == (page[2] == self.config.geometry.planes - 1), where
            if op is BusOp.UPDATE_LAST:
                self._begin_update(clock)
            else:
                self._busy(clock, self.cycles["tdbsy"])
                self.seen_ready = True  # as in other multi-plane commands
        elif op is BusOp.UPDATE_END:
            assert self.computed is not None and not self.sources, f"{where} without an update"
            self.failed_before = self.programmed_before
            self.programmed_before = False
            work = self._start_array("update", clock, self.computed)
            self._busy(clock, work.begin - clock)
            self.computed, self.gradients = None, []
            self.programming = True

    def _needs_idle_array(self, clock: int, where: str) -> None:
        assert not self.programming, f"{where} before the last program is known to be over"
        assert clock >= self.array_end, f"{where} while the array works"

    def _load_gradient(self, number: int, clock: int, where: str) -> None:
        assert not self.sources, f"{where} within an update command"
        assert number == len(self.gradients), f"{where}: page {number} after {self.gradients}"
        if self.update_works_from is not None:
            begin = clock - self.config.loaded_page_bytes // 2
            assert begin - self.update_works_from >= self.cycles["twb"], f"{where}: tWB"
        self.gradients.append(number)

    def _begin_update(self, clock: int) -> None:
        self.failed_before = self.programmed_before
        sense = self._start_array("sense", clock, self.sources)
        self.programmed_before = False
        if self.computed is not None:
            self.programmed_before = self._start_array("update", clock, self.computed).failed
            self.programming = True
        self._busy(clock, sense.end + self.late("unit", self.unit) - clock)
        self.update_works_from = clock
        self.computed, self.gradients, self.sources, self.targets = self.targets, [], [], []
        self.updates += 1

    def _gather(self, op: BusOp, page: Page, clock: int, where: str) -> None:
        kind = next(kind for kind in (READS, PROGRAMS, ERASES) if op in kind)
        if not self.gathered:
            self._may_begin(kind, clock, where)
        assert self.gathered_by <= kind, f"{where} after {self.gathered_by}"
        for _, row, plane in self.gathered:
            assert plane < page[2], f"{where}: plane {page[2]} after {plane}"
            assert row == page[1] or op in ERASES, f"{where}: row {page[1]} with {row}"
        self.gathered.append(page)
        self.gathered_by.add(op)
        if op in MORE:
            self._busy(clock, self.cycles["tdbsy"])
            self.seen_ready = True  # ONFI gives tDBSY as a time to wait
            return
        pages, self.gathered, self.gathered_by = self.gathered, [], set()
        if op is BusOp.READ_LAST:
            assert self.sensed in (None, self.cache), f"{where}, and {self.sensed} have not been handed out"
            work = self._start_array("sense", clock, pages)
            self._busy(clock, work.end - clock)
            self.cache, self.sensed = pages, pages
        elif op is BusOp.CACHE_READ_LAST:
            assert self.sensed, f"{where} without a read before"
            self._cache_read(clock, pages)
        elif op is BusOp.PROGRAM_LAST:
            failed = bool(self.works) and self.works[-1].failed
            begin = max(clock, self.array_end)
            self.failed_before = failed
            work = self._start_array("program", clock, pages)
            cached = self.config.chips.cache_program
            self._busy(clock, max(self.cycles["tcbsy"], begin - clock) if cached else work.end - clock)
            self.programming = True
        else:
            work = self._start_array("erase", clock, pages)
            self._busy(clock, work.end - clock)

    def _may_begin(self, kind: set[BusOp], clock: int, where: str) -> None:
        assert self.suspended_since is None or kind is not READS, (
            f"{where} before the end of a suspended read"
        )
        if kind is READS:
            assert not self.programming, f"{where} before the last program is known to be over"
            return
        self.cache, self.sensed = [], None
        if kind is ERASES:
            assert not self.programming, f"{where} before the last program is known to be over"
        if not self.programming:
            assert clock >= self.array_end, f"{where} while the array works"

    def _cache_read(self, clock: int, pages: list[Page] | None) -> None:
        begin = max(clock, self.array_end)
        self.cache = self.sensed or []
        self.sensed = pages
        if pages is not None:
            self._start_array("sense", clock, pages)
        self._busy(clock, max(self.cycles["tcbsy"], begin - clock))

    def _start_array(self, kind: str, clock: int, pages: list[Page]) -> ArrayWork:
        alone = len(pages) == 1 and self.array_end <= clock
        assert self.level == 0 or (kind == "sense" and alone), f"{self.name}: {kind} at level {self.level}"
        begin = max(clock, self.array_end)
        end = begin + self.late(kind, self.array_cycles[kind])
        failed = kind != "sense" and self.fails(kind, pages)
        self.works.append(ArrayWork(kind, begin, end, pages, failed, level=self.level))
        return self.works[-1]

    def _busy(self, clock: int, cycles: int) -> None:
        self.ready_at = clock + cycles
        self.status_from = clock + self.cycles["twb"]
        self.seen_ready = False
