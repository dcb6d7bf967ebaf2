"""The cache and data registers of all planes, and the word that the pins are working on."""

from amaranth import Cat, Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require

from .array_port import ArrayWords, words_per_page

_LANE_BYTES = 8  # what the pins gather before they write, and take apart after they read
_LANE_BEATS = _LANE_BYTES // 2


class PageRegisters(wiring.Component):
    """A *cache register* per plane toward the pins, and a *data register* per plane toward the array.

    All lie in one memory of `die_word_bytes`-wide words with one write and one read port; one bit says which
    half of it the cache registers are. The pins write 8 bytes at a time and read a word at a time, so they
    leave three quarters of the write port and more of the read port to whatever else works on the registers.
    The array comes first; it writes only when it senses and reads only when it programs, and the pins do
    the opposite meanwhile.

    Throughput: two bytes per clock at the pins, a word per clock at the array, both at once.
    Latency: the first two bytes are there five clocks after `fetch`.

    Members
    -------
    swap : In(1)       exchanges cache and data registers while it is high
    seek : In(1)       sets the position of the next transfer to `column`, a multiple of the word
    seek_plane : In(1) and to the plane `plane`
    clear : In(1)      fills the cache register of the plane of this `seek` with FFh, a word per clock, ahead
                       of the data that come in from `column` on
    fetch : In(1)      brings the first bytes of an output
    beat_in : In(1)    two bytes to the cache register: `byte_pair_in`
    beat_out : In(1)   `byte_pair_out` was taken
    resting : Out(1)   nothing changes before one of the above
    words              to and from the array: see `ArrayWords`
    """

    def __init__(self, config: FmsConfig):
        require(config.die_word_bytes >= _LANE_BYTES, "config.die_word_bytes", config.die_word_bytes,
                f"at least {_LANE_BYTES}")  # fmt: skip
        self.config = config
        super().__init__({
            "swap": In(1),
            "seek": In(1),
            "seek_plane": In(1),
            "clear": In(1),
            "plane": In(max(1, config.geometry.plane_bits)),
            "column": In(16),
            "fetch": In(1),
            "beat_in": In(1),
            "byte_pair_in": In(16),
            "beat_out": In(1),
            "byte_pair_out": Out(16),
            "resting": Out(1),
            "words": Out(ArrayWords(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        page_words = words_per_page(self.config)
        beats = self.config.die_word_bytes // 2
        lanes = beats // _LANE_BEATS
        bits = 8 * self.config.die_word_bytes

        depth = 2 * g.planes * page_words
        m.submodules.cells = cells = memory.Memory(shape=bits, depth=depth, init=[])
        write = cells.write_port(granularity=8 * _LANE_BYTES)
        read = cells.read_port()

        cache_half = Signal()
        with m.If(self.swap):
            m.d.sync += cache_half.eq(~cache_half)

        def address(half, plane, word):
            return (half * g.planes + plane) * page_words + word

        plane = Signal.like(self.plane, reset_less=True)
        word = Signal(range(page_words + 1), reset_less=True)
        beat = Signal(range(beats), reset_less=True)
        lane = Signal(8 * _LANE_BYTES, reset_less=True)  # the bytes between pins and registers
        lane_in = Cat(lane[16:], self.byte_pair_in)
        lane_end = Signal()
        m.d.comb += [
            lane_end.eq(beat[:2] == _LANE_BEATS - 1),
            self.byte_pair_out.eq(lane[:16]),
            self.words.from_register.eq(read.data),
        ]

        # From the array, from the pins, or FFh.
        clears_left = Signal(range(page_words + 1))
        clear_word = Signal(range(page_words), reset_less=True)
        with m.If(self.words.put):
            m.d.comb += [
                write.en.eq(~0),
                write.addr.eq(address(~cache_half, self.words.plane, self.words.word)),
                write.data.eq(self.words.to_register),
            ]
        with m.Elif(self.beat_in & lane_end):
            m.d.comb += [
                write.addr.eq(address(cache_half, plane, word)),
                write.data.eq(lane_in.replicate(lanes)),
            ]
            with m.Switch(beat[2:]):
                for index in range(lanes):
                    with m.Case(index):
                        m.d.comb += write.en.eq(1 << index)
        with m.Elif(clears_left != 0):
            m.d.comb += [
                write.en.eq(~0),
                write.addr.eq(address(cache_half, plane, clear_word)),
                write.data.eq(~0),
            ]
            m.d.sync += [
                clears_left.eq(clears_left - 1),
                clear_word.eq(clear_word + 1),
            ]
            with m.If(clear_word == page_words - 1):
                m.d.sync += clear_word.eq(0)

        # To the array or to the pins. An output begins with the last beats of a word that nobody sees: in
        # them the first word is read and its first lane prepared, as later beats do for the lanes to come.
        prefetching = Signal()
        advance = Signal()
        m.d.comb += advance.eq(self.beat_out | prefetching)
        m.d.comb += read.en.eq(0)
        with m.If(self.words.take):
            m.d.comb += [
                read.en.eq(1),
                read.addr.eq(address(~cache_half, self.words.plane, self.words.word)),
            ]
        with m.Elif(advance & (beat == beats - _LANE_BEATS)):
            m.d.comb += [read.en.eq(1), read.addr.eq(address(cache_half, plane, word))]
        with m.If(advance):
            m.d.sync += [beat.eq(beat + 1), lane.eq(lane >> 16)]
            with m.If(beat == beats - _LANE_BEATS):
                m.d.sync += word.eq(word + 1)
            with m.If(lane_end):
                m.d.sync += prefetching.eq(0)
                with m.Switch(beat[2:]):
                    for index in range(lanes):
                        with m.Case(index):
                            m.d.sync += lane.eq(read.data.word_select((index + 1) % lanes, len(lane)))
        with m.If(self.beat_in):
            m.d.sync += [beat.eq(beat + 1), lane.eq(lane_in)]
            with m.If(beat == beats - 1):
                m.d.sync += word.eq(word + 1)

        m.d.comb += self.resting.eq((clears_left == 0) & ~prefetching)
        with m.If(self.fetch):
            m.d.sync += [prefetching.eq(1), beat.eq(beats - _LANE_BEATS)]
        with m.If(self.seek):
            m.d.sync += [word.eq(self.column // self.config.die_word_bytes), beat.eq(0)]
            with m.If(self.seek_plane):
                m.d.sync += plane.eq(self.plane)
            with m.If(self.clear):
                m.d.sync += [
                    clears_left.eq(page_words),
                    clear_word.eq(self.column // self.config.die_word_bytes),
                ]
        return m
