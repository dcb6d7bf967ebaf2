"""The verdict on pages that come in over a port: whether each agrees with its checksum."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from .checksum import RESIDUE, PageChecksum


class PageVerdict(wiring.Component):
    """Checks pages on their way to decoder lanes; the lanes share its checksum.

    The beats of a page follow each other; those of another page come after its last one.

    Latency: that of `PageChecksum` from a page's last beat to its verdict. Throughput: a beat per cycle.
    Cost: docs/area.md.

    Members
    -------
    taken : In(lanes)      one-hot: the lane takes a beat
    data : In              the beat
    judged : Out(lanes)    pulse: the verdict on the lane's page
    damaged : Out(1)       the page disagrees with its checksum; valid with `judged`
    """

    def __init__(self, config: FmsConfig, lanes: int):
        self.config = config
        self.lanes = lanes
        super().__init__({
            "taken": In(lanes),
            "data": In(8 * config.data_bytes),
            "judged": Out(lanes),
            "damaged": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        beats = self.config.page_beats
        m.submodules.checksum = checksum = PageChecksum(8 * self.config.data_bytes)
        beat, ends = Signal(range(beats)), Signal(self.lanes)
        m.d.comb += [
            checksum.valid.eq(self.taken.any()),
            checksum.first.eq(beat == 0),
            checksum.beat.eq(self.data),
            self.damaged.eq(checksum.remainder != RESIDUE),
        ]
        with m.If(checksum.valid):
            m.d.sync += beat.eq(beat + 1)
        with m.If(beat == beats - 1):
            m.d.comb += ends.eq(self.taken)
        for cycle in range(checksum.latency):
            ends, ahead = Signal(self.lanes, name=f"ends_{cycle}"), ends
            m.d.sync += ends.eq(ahead)
        m.d.comb += self.judged.eq(ends)
        return m
