"""Keys of pages that cross a channel's bus."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from flashtrain.spec import FmsConfig
from flashtrain.spec.randomizer import key_words

from .word_key import KEY_BITS, but_for_version, finished, half_done

BEAT_BITS = 16
KEY_CLOCKS = 3
"""From `restart` to the first key."""


class Keystream(wiring.Component):
    """The key of each beat of a page, in their order.

    A word's key is worked out in two clocks while the beats of the word before pass; so a beat may pass in
    every clock. Behind data and identity there is no key: `key` means nothing.

    Latency: `KEY_CLOCKS` from `restart` to the key of the first beat, and none from a beat to the next key.
    Throughput: a beat per clock.

    Members
    -------
    restart : In(1)       the next beat is the first of a page; none passes before its key is there
    row, plane : In       of the page: from the clock after `restart` on, until its last beat
    advance : In(1)       a beat passes
    key : Out(16)         of the beat that passes, or will pass next
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        g = config.geometry
        super().__init__({
            "restart": In(1),
            "row": In(g.row_bits),
            "plane": In(g.plane_bits),
            "advance": In(1),
            "key": Out(BEAT_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        # Of the key that is worked out: one more than of that at work. Parity lets it count on.
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
            state.eq(half_done(m, "begun", self.row, self.plane, word)),
        ]
        with m.If(self.advance):
            m.d.sync += second.eq(~second)
        with m.If(takes):
            m.d.sync += [key.eq(but_for_version(g, finished(m, "ended", state), word)), word.eq(word + 1)]
        with m.If(self.restart):
            m.d.sync += [word.eq(0), second.eq(0)]
        return m
