"""Corrects the pages of a tile before the update unit works on them."""

from amaranth import Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.spec import FmsConfig
from flashtrain.spec.update import WORD_BYTES

from ..ecc.corrector import Corrector
from ..ecc.syndromes import PageSyndromes
from ..queue import Queue
from .code_lanes import CodeLanes, CodeWordWalk, TileCodeWords
from .pin_lanes import LANE_BYTES

_ARRAYS = 3
_IN_FLIGHT = 4
_GROUP = 8
"""Bits that the search looks at per clock: a byte."""


class TileDecoder(wiring.Component):
    """Decodes the code words of the tile in the cache registers, and corrects them in place::

        cache registers ──▶ syndromes ──▶ corrector ──▶ verdicts
                        ◀─── read, change, write ──┘

    Words come in the order in which a walk through the tile needs them: w, m and v have a place each from
    which words are taken in turns, upwards and around.

    Throughput: a lane per clock, as long as fewer than four words wait for their verdict: 133 clocks for a
    word of 1 KiB at strength 13. What the corrector takes for a word with errors is in docs/ecc.md; each byte
    with errors takes 3 clocks more. Latency: the first lane is read 2 clocks after `start`, and a clean word
    is told 7 clocks after its last lane was read.

    Members
    -------
    start : In(1)        a tile is in the cache registers from the next clock on
    parameters : In      of the tile, N: words N and 2N are the first of m and v
    busy : Out(1)        from the next clock on
    finished : Out(1)    in the last clock of `busy`
    clean : Out(count)   words that will not change here any more, a bit each
    damaged : Out(planes)   planes of words that could not be corrected; they were left as they are
    lanes : Out(CodeLanes)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self.words = TileCodeWords(config)
        super().__init__({
            "start": In(1),
            "parameters": In(range(config.geometry.page_set_bytes // WORD_BYTES + 1)),
            "busy": Out(1),
            "finished": Out(1),
            "clean": Out(self.words.count),
            "damaged": Out(config.geometry.planes),
            "lanes": Out(CodeLanes(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        words, lanes = self.words, self.lanes
        m.submodules.walk = walk = CodeWordWalk(self.config)
        m.submodules.syndromes = syndromes = PageSyndromes(words.code, 8 * LANE_BYTES)
        m.submodules.corrector = corrector = Corrector(words.code, _GROUP, room=_IN_FLIGHT)
        m.submodules.in_flight = in_flight = Queue(unsigned(words.number), _IN_FLIGHT)
        connect(m, syndromes.output, corrector.inputs[0])

        self._choose(m, walk)
        # As many words as the corrector has room for: so syndromes never wait, and what was read is taken.
        reads = Signal()
        arrives, arrives_padding = Signal(), Signal()
        fixing = corrector.corrections.valid
        m.d.comb += [
            reads.eq(walk.word.valid & in_flight.input.ready & ~fixing),
            walk.step.eq(reads & (walk.padding | lanes.read_ready)),
            in_flight.input.valid.eq(walk.word.ready),
            in_flight.input.payload.eq(walk.word.payload),
            syndromes.input.valid.eq(arrives),
            syndromes.input.payload.eq(Mux(arrives_padding, ~0, lanes.found)),
        ]
        m.d.sync += [arrives.eq(walk.step), arrives_padding.eq(walk.padding)]
        with m.If(~fixing):
            m.d.comb += [
                lanes.plane.eq(walk.plane),
                lanes.lane.eq(walk.lane),
                lanes.read.eq(reads & ~walk.padding),
            ]
        misplaced = self._correct(m, corrector.corrections, in_flight.output.payload)
        self._judge(m, corrector.verdicts, in_flight.output, misplaced)
        return m

    def _choose(self, m: Module, walk: CodeWordWalk) -> None:
        """The next word to be read."""
        words = self.words
        begun = Signal(words.count)
        places = Signal(data.ArrayLayout(unsigned(words.number), _ARRAYS))
        turn = Signal(range(_ARRAYS))
        next_word, known, takes = Signal(words.number), Signal(), Signal()
        m.d.comb += [
            next_word.eq(places[turn]),
            known.eq(begun.bit_select(next_word, 1)),
            takes.eq(self.busy & ~known & (~walk.word.valid | walk.word.ready)),
        ]
        with m.If(walk.word.ready):
            m.d.sync += walk.word.valid.eq(0)
        with m.If(takes):
            m.d.sync += [
                walk.word.valid.eq(1),
                walk.word.payload.eq(next_word),
                begun.bit_select(next_word, 1).eq(1),
            ]
        with m.If(takes | self.busy & known & ~begun.all()):
            m.d.sync += [turn.eq(Mux(turn == _ARRAYS - 1, 0, turn + 1)), places[turn].eq(next_word + 1)]
        with m.If(self.start):
            m.d.sync += [begun.eq(0), turn.eq(0)]
            m.d.sync += [places[array].eq(array * self.parameters // words.items) for array in range(_ARRAYS)]

    def _correct(self, m: Module, corrections, number):
        """Change the lane of a correction. Returns whether there is one in the padding, so that the word is
        none that it can have been.
        """
        words, lanes = self.words, self.lanes
        word = number % words.words
        absent = Mux(word == words.words - 1, 0, words.padding)
        position = Signal.like(corrections.payload.position)
        misplaced = Signal()
        changed = Signal(8 * LANE_BYTES)
        m.d.comb += [
            position.eq(corrections.payload.position),
            misplaced.eq(corrections.valid & (position // LANE_BYTES < absent)),
        ]
        with m.If(corrections.valid):
            m.d.comb += [
                lanes.plane.eq(number // words.words),
                lanes.lane.eq(word * words.data_lanes + position // LANE_BYTES - absent),
            ]
        with m.FSM(name="correct"):
            with m.State("READ"), m.If(corrections.valid):
                with m.If(misplaced):
                    m.d.comb += corrections.ready.eq(1)
                with m.Else():
                    m.d.comb += lanes.read.eq(1)
                    with m.If(lanes.read_ready):
                        m.next = "CHANGE"
            with m.State("CHANGE"):
                m.d.sync += changed.eq(lanes.found)
                m.d.sync += changed.word_select(position % LANE_BYTES, _GROUP).eq(
                    lanes.found.word_select(position % LANE_BYTES, _GROUP) ^ corrections.payload.mask
                )
                m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += [lanes.write.eq(1), lanes.content.eq(changed)]
                with m.If(lanes.write_ready):
                    m.d.comb += corrections.ready.eq(1)
                    m.next = "READ"
        return misplaced

    def _judge(self, m: Module, verdicts, word, misplaced) -> None:
        """Verdicts come in the order in which the words were read."""
        spoilt = Signal()  # the word that is being corrected
        plane = word.payload // self.words.words
        m.d.comb += [
            verdicts.ready.eq(1),
            word.ready.eq(verdicts.valid),
            self.finished.eq(self.busy & self.clean.all()),
        ]
        with m.If(misplaced):
            m.d.sync += spoilt.eq(1)
        with m.If(verdicts.valid):
            m.d.sync += [self.clean.bit_select(word.payload, 1).eq(1), spoilt.eq(0)]
            with m.If(verdicts.payload.failed | spoilt):
                m.d.sync += self.damaged.bit_select(plane, 1).eq(1)
        with m.If(self.finished):
            m.d.sync += self.busy.eq(0)
        with m.If(self.start):
            m.d.sync += [self.busy.eq(1), self.clean.eq(0), self.damaged.eq(0)]
