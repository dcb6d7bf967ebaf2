"""Access to the channels' command ports."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import EngineInterface, PortCycle
from flashtrain.rtl.lib.streams import select
from flashtrain.spec import FmsConfig


class PortRegisters(wiring.Signature):
    """The access to the command ports as the register file sees it.

    Members
    -------
    pause : Out(C)      channels to be paused
    channel : Out       the selected channel
    start : Out(1)      pulse: send `cycle` to it; only while `paused`, and not `busy`
    cycle : Out(PortCycle)
    busy : In(1)        a cycle is under way
    paused : In(1)      of the selected channel of 1 cycle before
    byte : In(8)        what the last cycle has read
    interface : Out(EngineInterface)   with SDR as data interface: of all engines
    """

    def __init__(self, config: FmsConfig):
        channels = config.geometry.channels
        super().__init__({
            "pause": Out(channels),
            "channel": Out(range(channels)),
            "start": Out(1),
            "cycle": Out(PortCycle(config)),
            "busy": In(1),
            "paused": In(1),
            "byte": In(8),
            **({"interface": Out(EngineInterface())} if config.chips.sdr else {}),
        })  # fmt: skip


class PortLines(wiring.Signature):
    """The members of `ChannelInterface` that belong to the command port."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "pause": Out(1),
            "paused": In(1),
            "cycles": Out(stream.Signature(PortCycle(config))),
            "answers": In(stream.Signature(8)),
        })  # fmt: skip


class PortAccess(wiring.Component):
    """Sends a cycle to the selected channel, and takes its answer. One cycle is under way at a time.

    Latency: 1 cycle from `start` to the channel, 1 from the answer to `byte` and the end of `busy`.
    Cost: a register of a cycle, a bit for each channel.

    Members
    -------
    registers : In(PortRegisters)
    channels : Out(PortLines).array(C)   outputs are registers
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "registers": In(PortRegisters(config)),
            "channels": Out(PortLines(config)).array(config.geometry.channels),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        registers, under_way = self.registers, Signal()
        cycle = Signal(PortCycle(self.config))
        chosen = Cat(registers.channel == number for number in range(len(self.channels)))
        paused = Cat(lines.paused for lines in self.channels)
        answered = Cat(lines.answers.valid for lines in self.channels)
        m.d.comb += registers.busy.eq(registers.start | under_way)
        m.d.sync += registers.paused.eq((chosen & paused & registers.pause).any())
        for number, lines in enumerate(self.channels):
            m.d.comb += [
                lines.pause.eq(registers.pause[number]),
                lines.cycles.payload.eq(cycle),
                lines.answers.ready.eq(1),
            ]
            with m.If(registers.start):
                m.d.sync += lines.cycles.valid.eq(chosen[number])
            with m.Elif(lines.cycles.ready):
                m.d.sync += lines.cycles.valid.eq(0)
        with m.If(registers.start):
            m.d.sync += [cycle.eq(registers.cycle), under_way.eq(1)]
        with m.Elif(answered.any()):
            m.d.sync += [
                under_way.eq(0),
                registers.byte.eq(select(answered, [lines.answers.payload for lines in self.channels])),
            ]
        return m
