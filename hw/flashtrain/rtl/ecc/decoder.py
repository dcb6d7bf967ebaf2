"""What is wrong in pages."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.spec.ecc import PageCode

from ..forward import forward
from .corrector import Corrector
from .layouts import Correction, Verdict
from .syndromes import PageSyndromes


class PageDecoder(wiring.Component):
    """Takes the beats of pages as they were read and tells which bits are wrong.

    Latency: all parity lies behind the data, so verdicts come after it: of a clean word 5 clocks after its
    parity, if the words before it are clean, too. Otherwise what `KeySolver` and `RootSearch` take, one word
    after the other, while the next page comes in.
    Throughput: one beat per clock as long as words wait for correction in fewer than `room` places; then the
    last beat of a word's parity waits. Clean words never make it wait. Cost: docs/ecc.md.

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
