"""Corrects the pages of a tile before the update unit works on them."""

from amaranth import Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import bits_for

from flashtrain.rtl.die.registers.pin_lanes import LANE_BYTES
from flashtrain.rtl.ecc.corrector import Corrector
from flashtrain.rtl.ecc.syndromes import PageSyndromes
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import FmsConfig
from flashtrain.spec.update import WORD_BYTES

from .code_lanes import CodeLanes, CodeWordScan, TileCodeWords
from .tile_words import LOWER, tile_regions

_IN_FLIGHT = 4
_GROUP = 8
"""Bits that the search checks per cycle: a byte."""


class TileDecoder(wiring.Component):
    """Decodes the code words of the tile in the cache registers, and corrects them in place::

        cache registers ──▶ syndromes ──▶ corrector ──▶ verdicts
                        ◀─── read, change, write ──┘

    Words are decoded in the order in which the tile sequencer needs them. Each array has a place, from which
    words are taken in turns, upwards and around.

    Throughput: a lane per cycle while fewer than four words wait for their verdict; 133 cycles for a word of
    1 KiB at strength 13. The corrector's time for a word with errors is in docs/ecc.md; each byte with errors
    takes 3 cycles more. Latency: 2 cycles from `start` to the first lane, 7 from a clean word's last lane to
    its bit in `clean`.

    Members
    -------
    start : In(1)        a tile is in the cache registers from the next cycle on
    first : In           the first word of each array, see `tile_regions`
    split : In(1)        the tile has lower halves of w
    busy : Out(1)        from the next cycle on
    finished : Out(1)    in the last cycle of `busy`
    clean : Out(count)   words that are decoded and, if necessary, corrected, a bit each
    damaged : Out(planes)   planes with uncorrectable words, which stay unchanged
    lanes : Out(CodeLanes)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self.words = TileCodeWords(config)
        self._arrays = tile_regions(config)
        word_bits = bits_for(config.geometry.page_set_bytes // WORD_BYTES)
        super().__init__({
            "start": In(1),
            "first": In(data.ArrayLayout(word_bits, self._arrays)),
            "split": In(1),
            "busy": Out(1),
            "finished": Out(1),
            "clean": Out(self.words.count),
            "damaged": Out(config.geometry.planes),
            "lanes": Out(CodeLanes(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        words, lanes = self.words, self.lanes
        m.submodules.scan = scan = CodeWordScan(self.config)
        m.submodules.syndromes = syndromes = PageSyndromes(words.code, 8 * LANE_BYTES, always_ready=True)
        m.submodules.corrector = corrector = Corrector(words.code, _GROUP, room=_IN_FLIGHT)
        m.submodules.in_flight = in_flight = Queue(unsigned(words.number), _IN_FLIGHT)
        connect(m, syndromes.output, corrector.inputs[0])

        self._choose(m, scan)
        # The queue has as many words as the corrector has room for: syndromes never wait.
        reads = Signal()
        arrives, arrives_padding = Signal(), Signal()
        fixing = corrector.corrections.valid
        m.d.comb += [
            reads.eq(scan.word.valid & in_flight.input.ready & ~fixing),
            scan.step.eq(reads & (scan.padding | lanes.read_ready)),
            in_flight.input.valid.eq(scan.word.ready),
            in_flight.input.payload.eq(scan.word.payload),
            syndromes.input.valid.eq(arrives),
            syndromes.input.payload.eq(Mux(arrives_padding, ~0, lanes.found)),
        ]
        m.d.sync += [arrives.eq(scan.step), arrives_padding.eq(scan.padding)]
        with m.If(~fixing):
            m.d.comb += [
                lanes.plane.eq(scan.plane),
                lanes.lane.eq(scan.lane),
                lanes.read.eq(reads & ~scan.padding),
            ]
        misplaced = self._correct(m, corrector.corrections, in_flight.output.payload)
        self._judge(m, corrector.verdicts, in_flight.output, misplaced)
        return m

    def _choose(self, m: Module, scan: CodeWordScan) -> None:
        """The next word to be read."""
        words = self.words
        started = Signal(words.count)
        places = Signal(data.ArrayLayout(unsigned(words.number), self._arrays))
        turn = Signal(range(self._arrays))
        after = Signal(range(self._arrays + 1))  # the next turn; at the end 0 follows
        next_word, known, takes = Signal(words.number), Signal(), Signal()
        m.d.comb += [
            next_word.eq(places[turn]),
            after.eq(turn + Mux((turn == LOWER - 1) & ~self.split, 2, 1)),
            known.eq(started.bit_select(next_word, 1)),
            takes.eq(self.busy & ~known & (~scan.word.valid | scan.word.ready)),
        ]
        with m.If(scan.word.ready):
            m.d.sync += scan.word.valid.eq(0)
        with m.If(takes):
            m.d.sync += [
                scan.word.valid.eq(1),
                scan.word.payload.eq(next_word),
                started.bit_select(next_word, 1).eq(1),
            ]
        with m.If(takes | self.busy & known & ~started.all()):
            m.d.sync += [turn.eq(Mux(after == self._arrays, 0, after)), places[turn].eq(next_word + 1)]
        with m.If(self.start):
            m.d.sync += [started.eq(0), turn.eq(0)]
            m.d.sync += [places[array].eq(self.first[array] // words.items) for array in range(self._arrays)]

    def _correct(self, m: Module, corrections, number):
        """Correct a lane. Returns whether the correction is in the padding: its word is uncorrectable."""
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
        """Verdicts have the order in which the words were read."""
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
