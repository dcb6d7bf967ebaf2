"""The controller of the flash memory system."""

from functools import reduce
from operator import or_

from amaranth import Cat, ClockDomain, ClockSignal, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require
from flashtrain.spec.registers import ADDRESS_BITS

from .channel.engine import ChannelEngine
from .clocks import Clocks
from .crossing.channel_crossing import CHANNELS, COMMON, FRONT, ChannelCrossing
from .crossing.control_crossings import CounterCrossing, IdleCrossing, ResetCrossing
from .crossing.data_crossing import DataCrossing
from .front_end import FrontEnd
from .lib.axi import Axi4LiteSignature, Axi4Signature
from .lib.forward import forward
from .lib.shared import SharedModule
from .nand_bus import nand_bus


class Controller(wiring.Component):
    """The front end, and a channel engine per channel.

    Front end and AXI ports are in domain `sync`. The channel engines and the NAND's pins are so, too, unless
    the system has a clock of its own: then they are in domain `nand`.

    Parameters
    ----------
    config
    `clocks` : frequencies; that of the NAND's interface for all if not given

    Members
    -------
    data : Out(Axi4Signature)          tensor buffer, pages; 2 bytes wide for each channel
    queue : Out(Axi4Signature)         tensor buffer, queue entries and reports; 64 bits wide
    registers : In(Axi4LiteSignature)  see `spec.registers`
    irq : Out(1)                       level; a port has new completions
    nand : Out(NandBus).array(C)       the channels' pins
    """

    def __init__(self, config: FmsConfig, clocks: Clocks | None = None):
        self.config = config
        self.clocks = clocks or Clocks(config.timing.clock_mhz)
        require(not (self.clocks.crosses and config.part_bytes), "config.part_bytes", config.part_bytes,
                "0 with a system clock of its own: its crossing counts whole pages")  # fmt: skip
        g = config.geometry
        super().__init__({
            "data": Out(Axi4Signature(address_bits=config.address_bits, data_bits=8 * config.data_bytes)),
            "queue": Out(Axi4Signature(address_bits=config.address_bits, data_bits=64)),
            "registers": In(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "irq": Out(1),
            "nand": Out(nand_bus(config)).array(g.channels),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        front_end = SharedModule(FrontEnd(self.config, self.clocks), "flashtrain_front_end")
        m.submodules.front_end = front_end
        forward(m, front_end, self, ("data", "queue", "registers", "irq"))
        unit = ChannelEngine(self.config)
        if self.clocks.crosses:
            engines = [
                SharedModule(unit, "flashtrain_channel", domains={"sync": CHANNELS}) for _ in self.nand
            ]
        else:
            engines = [
                SharedModule(unit, "flashtrain_channel", reset=front_end.channel_reset) for _ in self.nand
            ]
        for number, engine in enumerate(engines):
            m.submodules[f"channel_{number}"] = engine
            connect(m, engine.nand, flipped(self.nand[number]))
        if self.clocks.crosses:
            self._cross(m, front_end, engines)
        else:
            self._join(m, front_end, engines)
        return m

    def _join(self, m: Module, front_end: SharedModule, engines: list[SharedModule]) -> None:
        """Front end and engines in the same domain."""
        for number, (port, engine) in enumerate(zip(front_end.channels, engines, strict=True)):
            connect(m, port, engine.front_end)
            connect(m, front_end.broadcast, engine.broadcast)
            m.d.comb += engine.data_valid.eq(front_end.data_valid[number])
        chosen = [port.read_chosen for port in front_end.channels]
        m.d.comb += front_end.read_data.eq(_chosen(engines, chosen))

    def _cross(self, m: Module, front_end: SharedModule, engines: list[SharedModule]) -> None:
        """Front end and engines in domains of their own."""
        m.submodules.reset_crossing = reset = ResetCrossing()
        for name, clock, asserted in ((FRONT, "sync", reset.front), (CHANNELS, "nand", reset.channels)):
            m.domains += (domain := ClockDomain(name, local=True))
            m.d.comb += [domain.clk.eq(ClockSignal(clock)), domain.rst.eq(asserted)]
        m.d.comb += [
            reset.request.eq(front_end.channel_reset),
            front_end.channels_reset.eq(reset.front),
        ]
        waiting = self._cross_streams(m, front_end, engines)
        empty = self._cross_data(m, front_end, engines)

        m.submodules.idle_crossing = idle = IdleCrossing()
        m.submodules.counter_crossing = counters = CounterCrossing()
        all_idle = Signal()
        m.d[CHANNELS] += all_idle.eq(Cat(engine.front_end.idle for engine in engines).all())
        m.d.comb += [
            idle.quiet.eq(empty & ~waiting),
            idle.engines.eq(all_idle),
            counters.select.eq(front_end.broadcast.counter_select),
            counters.sample.eq(front_end.broadcast.counter_sample),
            front_end.counter_pending.eq(counters.pending),
        ]
        for port, engine in zip(front_end.channels, engines, strict=True):
            m.d.comb += [
                port.idle.eq(idle.idle),
                port.counter_value.eq(engine.front_end.counter_value),
                engine.broadcast.counter_select.eq(counters.engine_select),
                engine.broadcast.counter_sample.eq(counters.engine_sample),
            ]

    def _cross_streams(self, m: Module, front_end: SharedModule, engines: list[SharedModule]) -> Value:
        """Whether an engine has not accepted all that is sent to it."""
        unit = ChannelCrossing(self.config)
        waiting = Signal(len(engines))
        for number, (port, engine) in enumerate(zip(front_end.channels, engines, strict=True)):
            crossing = SharedModule(
                unit, "flashtrain_channel_crossing", domains={name: name for name in (FRONT, CHANNELS)}
            )
            m.submodules[f"channel_crossing_{number}"] = crossing
            for outside, inside in ((port, crossing.front_end), (crossing.engine, engine.front_end)):
                for name, member in inside.signature.members.items():
                    if member.is_signature and name not in COMMON:
                        connect(m, getattr(outside, name), getattr(inside, name))
            m.d.comb += [
                crossing.front_end.raw.eq(port.raw),
                port.ready.eq(crossing.front_end.ready),
                port.flushed.eq(crossing.front_end.flushed),
                engine.front_end.raw.eq(crossing.engine.raw),
                crossing.engine.ready.eq(engine.front_end.ready),
                crossing.engine.flushed.eq(engine.front_end.flushed),
                waiting[number].eq(crossing.waiting),
            ]
            if self.config.command_port:
                m.d.comb += [
                    crossing.front_end.pause.eq(port.pause),
                    engine.front_end.pause.eq(crossing.engine.pause),
                    crossing.engine.paused.eq(engine.front_end.paused),
                    port.paused.eq(crossing.front_end.paused),
                ]
                if self.config.chips.sdr:
                    m.d.comb += [
                        crossing.front_end.interface.eq(port.interface),
                        engine.front_end.interface.eq(crossing.engine.interface),
                    ]
        return waiting.any()

    def _cross_data(self, m: Module, front_end: SharedModule, engines: list[SharedModule]) -> Value:
        """Whether the engines have all write data."""
        m.submodules.data_crossing = data = SharedModule(
            DataCrossing(self.config), "flashtrain_data_crossing",
            domains={name: name for name in (FRONT, CHANNELS)},
        )  # fmt: skip
        m.d.comb += [
            data.data.eq(front_end.broadcast.data),
            data.data_valid.eq(front_end.data_valid),
            front_end.data_room.eq(data.data_room),
            data.read_next.eq(front_end.read_next),
            front_end.read_room.eq(data.read_room),
            front_end.read_data.eq(data.read_data),
            data.read_ready.eq(Cat(port.read_ready for port in front_end.channels).any()),
            data.engine_read_data.eq(_chosen(engines, data.engine_read_chosen)),
        ]
        for number, (port, engine) in enumerate(zip(front_end.channels, engines, strict=True)):
            m.d.comb += [
                port.read_valid.eq(data.read_valid),
                engine.broadcast.data.eq(data.engine_data),
                engine.data_valid.eq(data.engine_data_valid[number]),
                data.engine_read_valid[number].eq(engine.front_end.read_valid),
                engine.front_end.read_ready.eq(data.engine_read_ready[number]),
                engine.front_end.read_chosen.eq(data.engine_read_chosen[number]),
            ]
        return data.empty & ~front_end.data_valid.any()


def clock_domains(clocks: Clocks) -> tuple[str, ...]:
    """The domains of a `Controller`, that of the NAND's pins last."""
    return ("sync", "nand") if clocks.crosses else ("sync",)


def _chosen(engines: list[SharedModule], chosen):
    """The read data of the chosen engine; 0 if there is none."""
    return reduce(or_, (Mux(one, engine.read_data, 0) for one, engine in zip(chosen, engines, strict=True)))
