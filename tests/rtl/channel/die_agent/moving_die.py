"""A die whose planes fail on their own, and what its blocks hold: `DieModel` with copybacks and contents."""

from collections.abc import Callable
from dataclasses import dataclass, field

from flashtrain.spec.nand import BusOp, DieStatus
from tests.rtl.channel.die_model import PROGRAMS, READS, ArrayWork, DieModel, Page

Content = object
"""Of a page: whatever the bench says."""


@dataclass
class MovingDie(DieModel):
    """breaks(kind, page): whether a program, copy or erase fails there.

    contents: pages of each erased block, by block and plane; None is what a program that failed has left.
    loading: what the page registers of the planes hold for the next program.
    """

    breaks: Callable[[str, Page], bool] = lambda kind, page: False
    contents: dict[tuple[int, int], list[Content]] = field(default_factory=dict)
    loading: dict[int, Content] = field(default_factory=dict)
    failed_planes: set[int] = field(default_factory=set)
    failed_planes_before: set[int] = field(default_factory=set)
    copied: Page | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.array_cycles["copy"] = self.config.timing.cycles("tprog")
        g = self.config.geometry
        self.contents |= {(block, plane): [] for block in range(g.zones) for plane in range(g.planes)}

    def status_plane(self, clock: int, plane: int) -> int:
        """FAIL and FAILC are those of the plane."""
        assert self.seen_ready, f"{self.name} at {clock}: the status of a plane of a die that may be busy"
        byte = self.status(clock) & ~(DieStatus.FAIL | DieStatus.FAILC)
        byte |= DieStatus.FAIL * (plane in self.failed_planes)
        return byte | DieStatus.FAILC * (plane in self.failed_planes_before)

    def operation(self, op: BusOp, block: int, row: int, plane: int, clock: int) -> None:
        if op not in (BusOp.COPYBACK_READ, BusOp.COPYBACK_PROGRAM):
            super().operation(op, block, row, plane, clock)
            if op not in (BusOp.STATUS, BusOp.STATUS_PLANE):
                self.copied = None
            return
        where = f"{self.name} at {clock}: {op.name}"
        self.history.append((clock, op))
        self.selected = None
        assert clock >= self.ready_at and self.seen_ready and not self.gathered and self.named is None, where
        page = (block, row, plane)
        if op is BusOp.COPYBACK_READ:
            self._may_begin(READS, clock, where)
            self.cache, self.sensed, self.copied = [], None, page
            work = self._start_array("sense", clock, [page])
        else:
            assert self.copied is not None and self.copied[2] == plane, f"{where} after {self.copied}"
            self._may_begin(PROGRAMS, clock, where)
            self.loading[plane] = self.at(self.copied)
            self.copied, self.failed_before = None, False
            work = self._start_array("copy", clock, [page])
        self._busy(clock, work.end - clock)

    def at(self, page: Page) -> Content:
        block, row, plane = page
        return self.contents[block, plane][row]

    def _start_array(self, kind: str, clock: int, pages: list[Page]) -> ArrayWork:
        work = super()._start_array(kind, clock, pages)
        if kind == "sense":
            for page in pages:
                self.at(page)
            return work
        self.failed_planes_before = self.failed_planes if kind == "program" else set()
        self.failed_planes = {page[2] for page in pages if self.breaks(kind, page)}
        work.failed = bool(self.failed_planes)
        for block, row, plane in pages:
            failed = plane in self.failed_planes
            if kind == "erase":
                self.contents.pop((block, plane), None)
                if not failed:
                    self.contents[block, plane] = []
                continue
            cells = self.contents[block, plane]
            assert row == len(cells), f"{self.name} at {clock}: program of {row} after {len(cells)} rows"
            cells.append(None if failed else self.loading[plane])
        return work
