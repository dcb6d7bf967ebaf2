"""Crossings of what all channels share beside page data: their reset, an idle signal, counters."""

from amaranth import Cat, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.channel.counters import SELECT_BITS

from .channel_crossing import CHANNELS, FRONT
from .handshake import Handshake


class ResetCrossing(wiring.Component):
    """Brings the channels' reset to their clock, and back when it has done its work there.

    The crossings' side of the front end is in reset from when the channels' side is until that has left it.
    So no bit of a handshake is seen to change by a reset.

    Latency: 2 edges of `nand` to `channels`; 4 more and 2 of `sync` to `front`.

    Members
    -------
    request : In(1)    in `sync`
    channels : Out(1)  in `nand`
    front : Out(1)     in `sync`
    """

    SETTLE = 4  # edges for all that the reset of the channels changes

    def __init__(self) -> None:
        super().__init__({"request": In(1), "channels": Out(1), "front": Out(1)})

    def elaborate(self, platform):
        m = Module()
        seen, held = Signal(), Signal(self.SETTLE, init=-1, reset_less=True)
        m.submodules.request = FFSynchronizer(self.request, seen, o_domain="nand", init=1)
        m.submodules.front = FFSynchronizer(held[-1], self.front, o_domain="sync", init=1)
        m.d.comb += self.channels.eq(seen | ResetSignal("nand"))
        m.d.nand += held.eq(Cat(self.channels, held))
        return m


class IdleCrossing(wiring.Component):
    """Asks the channels again and again whether they are idle.

    It asks while nothing is on the way to them, and an answer counts if nothing was sent since the question.
    The channels answer with yes after `WINDOW` idle cycles in a row: by then all that had arrived before the
    question is seen in `engines`.

    Latency: low in the cycle behind that of `quiet`; else some `WINDOW` + 4 cycles of `channels` and 8 of
    `front`.

    Members
    -------
    quiet : In(1)     in `front`: nothing is on the way to a channel
    idle : Out(1)     in `front`
    engines : In(1)   in `channels`: all engines are idle
    """

    WINDOW = 8

    def __init__(self) -> None:
        super().__init__({"quiet": In(1), "idle": Out(1), "engines": In(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.question = question = Handshake(1, FRONT, CHANNELS)
        valid, answered, answer = Signal(), Signal(), self._answer(m, question)
        m.d.comb += question.input.valid.eq(~answered)
        m.d.front += answered.eq(question.input.ready)
        with m.If(question.input.ready):
            m.d.front += self.idle.eq(answer & valid)
        with m.If(answered):
            m.d.front += valid.eq(1)
        with m.If(~self.quiet):
            m.d.front += [self.idle.eq(0), valid.eq(0)]
        return m

    def _answer(self, m: Module, question: Handshake) -> Signal:
        """In `channels`; held from one question to the next."""
        answer, left = Signal(), Signal(range(self.WINDOW), init=self.WINDOW - 1)
        m.d.comb += question.output.ready.eq(left == 0)
        with m.If(question.output.valid):
            m.d.channels += [left.eq(left - 1), answer.eq(self.engines & (answer | left.all()))]
        return answer


class CounterCrossing(wiring.Component):
    """Has the channels' counters sampled, and waits until their values stand still.

    Latency: 1 edge of `front`, 7 of `channels`, 3 of `front`.

    Members
    -------
    select : In, sample : In(1)   in `front`, see `ChannelCounters`; held until `pending` is low
    pending : Out(1)              in `front`: the values are not there; low in reset
    engine_select : Out, engine_sample : Out(1)   in `channels`
    """

    SETTLE = 4  # cycles from `engine_sample` on; the values come after 3

    def __init__(self) -> None:
        super().__init__({
            "select": In(SELECT_BITS),
            "sample": In(1),
            "pending": Out(1),
            "engine_select": Out(SELECT_BITS),
            "engine_sample": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.request = request = Handshake(SELECT_BITS, FRONT, CHANNELS)
        done, left = Signal(), Signal(range(self.SETTLE), init=self.SETTLE - 1)
        m.d.comb += [
            request.input.payload.eq(self.select),
            request.input.valid.eq(self.sample & ~done),
            self.pending.eq(self.sample & ~done & ~ResetSignal(FRONT)),
            self.engine_select.eq(request.output.payload),
            self.engine_sample.eq(request.output.valid & left.all()),
            request.output.ready.eq(left == 0),
        ]
        m.d.front += done.eq(self.sample & (done | request.input.ready))
        with m.If(request.output.valid):
            m.d.channels += left.eq(left - 1)
        return m
