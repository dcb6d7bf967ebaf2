"""Keys of pages that cross a channel's bus."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from flashtrain.spec import FmsConfig
from flashtrain.spec.randomizer import key_words

from .word_key import KEY_BITS, but_for_version, finished, half_done

BEAT_BITS = 16
KEY_CYCLES = 3
"""From `restart` to the first key."""


class Keystream(wiring.Component):
    """The key of each beat of a page, in order.

    A word's key is computed in two cycles, during the beats of the word before. Behind data and identity
    there is no key: `key` is invalid.

    Latency: `KEY_CYCLES` from `restart` to the key of the first beat, and none from a beat to the next key.
    Throughput: a beat per cycle.

    Members
    -------
    restart : In(1)       pulse: the next beat is the first of a page; it follows its key
    page, plane : In      of the page: from the cycle after `restart` on, until its last beat
    advance : In(1)       pulse: a beat is transferred
    key : Out(16)         of the present beat, or of the next one
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        g = config.geometry
        super().__init__({
            "restart": In(1),
            "page": In(g.page_bits),
            "plane": In(g.plane_bits),
            "advance": In(1),
            "key": Out(BEAT_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        # The word whose key is computed, one ahead of the key in use. It counts on during parity.
        word = Signal(ceil_log2(key_words(g) + 2))
        state, key = Signal(KEY_BITS), Signal(KEY_BITS)
        second = Signal()  # of the two beats of a word
        restarted, first = Signal(), Signal()
        takes = Signal()
        m.d.comb += [
            takes.eq(first | (self.advance & second)),
            self.key.eq(key.word_select(second, BEAT_BITS)),
        ]
        m.d.sync += [
            restarted.eq(self.restart),
            first.eq(restarted),
            state.eq(half_done(m, "first_half", self.page, self.plane, word)),
        ]
        with m.If(self.advance):
            m.d.sync += second.eq(~second)
        with m.If(takes):
            m.d.sync += [
                key.eq(but_for_version(g, finished(m, "second_half", state), word)),
                word.eq(word + 1),
            ]
        with m.If(self.restart):
            m.d.sync += [word.eq(0), second.eq(0)]
        return m
