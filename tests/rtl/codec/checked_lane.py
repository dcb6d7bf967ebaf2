"""A decoder lane with the check of its pages, which several lanes share in the controller."""

from amaranth import Module
from amaranth.lib import wiring

from flashtrain.rtl.codec.decoder_lane import DecoderLane
from flashtrain.rtl.codec.page_verdict import PageVerdict
from flashtrain.rtl.lib.forward import forward
from flashtrain.spec import FmsConfig

MEMBERS = ("page", "beats", "head", "slices")


class CheckedLane(wiring.Component):
    """The members of `DecoderLane` but for the verdict."""

    def __init__(self, config: FmsConfig):
        self.config = config
        self._lane = DecoderLane(config)
        members = self._lane.signature.members
        super().__init__({name: members[name] for name in MEMBERS})

    def elaborate(self, platform):
        m = Module()
        m.submodules.lane = lane = self._lane
        m.submodules.verdict = verdict = PageVerdict(self.config, 1)
        forward(m, lane, self, MEMBERS)
        m.d.comb += [
            verdict.taken.eq(self.beats.valid & self.beats.ready),
            verdict.data.eq(self.beats.payload),
            lane.judged.eq(verdict.judged),
            lane.damaged.eq(verdict.damaged),
        ]
        return m
