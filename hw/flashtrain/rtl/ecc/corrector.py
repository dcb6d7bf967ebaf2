"""The corrector: syndromes to corrections, for one stream of pages or for several."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.streams import Queue, StreamMerge
from flashtrain.spec.ecc import PageCode

from .layouts import Correction, Syndromes, Verdict
from .search import RootSearch
from .solver import KeySolver


class Corrector(wiring.Component):
    """Computes the wrong bits of code words, one word in the solver and one in the search at a time.

    The words of several streams of pages take turns; those of a stream keep their order.

    Latency and throughput: those of `KeySolver` and `RootSearch`. A clean word takes 3 cycles.

    Members
    -------
    inputs : In(stream(Syndromes)).array(sources)
    corrections : Out(stream(Correction))
    verdicts : Out(stream(Verdict))   of each word, after its corrections have been taken
    """

    def __init__(self, code: PageCode, parallel: int = 8, sources: int = 1, room: int = 8):
        self.code = code
        self.parallel = parallel
        self.sources = sources
        self.room = room
        super().__init__({
            "inputs": In(stream.Signature(Syndromes(code))).array(sources),
            "corrections": Out(stream.Signature(Correction(code, parallel, sources))),
            "verdicts": Out(stream.Signature(Verdict(code, sources))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        code, sources = self.code, self.sources
        m.submodules.turns = turns = StreamMerge(Syndromes(code, sources), sources)
        m.submodules.solver = solver = KeySolver(code, sources)
        m.submodules.search = search = RootSearch(code, self.parallel, sources)
        for number, source in enumerate(self.inputs):
            m.submodules[f"waiting{number}"] = waiting = Queue(Syndromes(code), self.room)
            ours, turn = waiting.output, turns.inputs[number]
            m.d.comb += [
                waiting.input.valid.eq(source.valid),
                waiting.input.payload.eq(source.payload),
                source.ready.eq(waiting.input.ready),
                turn.valid.eq(ours.valid),
                turn.payload.source.eq(number),
                turn.payload.word.eq(ours.payload.word),
                turn.payload.values.eq(ours.payload.values),
                ours.ready.eq(turn.ready),
            ]
        connect(m, turns.output, solver.input)
        connect(m, solver.output, search.input)
        forward(m, search, self, ("corrections", "verdicts"))
        return m
