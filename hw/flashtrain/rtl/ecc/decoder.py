"""The decoder: the wrong bits of pages."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.lib.forward import forward
from flashtrain.spec.ecc import PageCode

from .corrector import Corrector
from .layouts import Correction, Verdict
from .syndromes import PageSyndromes


class PageDecoder(wiring.Component):
    """Takes the beats of pages as they were read, and reports the wrong bits.

    Latency: all parity follows the data, and verdicts follow their parity. A clean word takes 5 cycles if the
    words before it are clean, too. Otherwise the latencies of `KeySolver` and `RootSearch` add, one word
    after the other, while the next page is received.
    Throughput: one beat per cycle while fewer than `room` words wait for correction; then the last beat of a
    word's parity stalls. Clean words never stall it. Cost: docs/ecc.md.

    Members
    -------
    input : In(stream(width))               `code.page_bytes` of each page
    corrections : Out(stream(Correction))   bits to change, in groups of `parallel` bits of a page's data
    verdicts : Out(stream(Verdict))         of each code word, in their order, after its corrections
    """

    def __init__(self, code: PageCode, width: int = 16, parallel: int = 8, room: int = 8):
        self.code = code
        self.width = width
        self.parallel = parallel
        self.room = room
        super().__init__({
            "input": In(stream.Signature(width)),
            "corrections": Out(stream.Signature(Correction(code, parallel))),
            "verdicts": Out(stream.Signature(Verdict(code))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.syndromes = syndromes = PageSyndromes(self.code, self.width)
        m.submodules.corrector = corrector = Corrector(self.code, self.parallel, room=self.room)
        connect(m, syndromes.output, corrector.inputs[0])
        forward(m, syndromes, self, ("input",))
        forward(m, corrector, self, ("corrections", "verdicts"))
        return m
