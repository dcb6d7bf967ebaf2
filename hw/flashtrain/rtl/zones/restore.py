"""Recovery after a loss of power: its duration, and its state outside the zone table."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import Command, SpareUse
from flashtrain.rtl.zones.table import Placement
from flashtrain.spec import FmsConfig, Submission
from flashtrain.spec.identity import PageIdentity, RestoreAction


class RestoredZone(data.StructLayout):
    """A physical zone as recovery found it: restore unit to allocator."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "zone": config.geometry.block_bits,
            "wear": PageIdentity.wear.width,
            "dirty": 1,  # its content is not needed
        })  # fmt: skip


def spare_use_ports(config: FmsConfig) -> dict:
    """Members that carry the use of spare blocks to the channels, if there are any."""
    g = config.geometry
    if not g.spare_blocks:
        return {}
    return {"spare_use": Out(stream.Signature(SpareUse(config))), "spare_channel": Out(g.channel_bits)}


class Restore(wiring.Component):
    """Carries out RESTORE commands (`flashtrain.spec.identity`), and numbers the allocations of zones.

    The zone table and the generations are the manager's. The number of the next allocation is here because
    recovery sets it.

    Latency: `placement` and `sets_generation` are combinational; the other outputs follow `execute` and
    `allocated` by 1 cycle.

    Members
    -------
    recover : In(1)              recovery is requested; sampled in the first cycle after reset
    recovering : Out(1)          recovery is in progress, from that cycle on
    command : In(Command)
    execute : In(1)              `command` is a RESTORE that succeeds; not while `busy`
    busy : Out(1)                `physical` or `spare_use` is pending
    placement : Out(Placement)   of the restored zone
    sets_generation : Out(1)     its stream's generation is restored
    physical : Out(stream(RestoredZone))
    spare_use : Out(stream(SpareUse)), spare_channel : Out   if there are spare blocks: one of this channel
    allocated : In(1)            a physical zone was allocated
    sequence : Out(32)           number of the next allocation
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "recover": In(1),
            "recovering": Out(1),
            "command": In(Command(config)),
            "execute": In(1),
            "busy": Out(1),
            "placement": Out(Placement(config)),
            "sets_generation": Out(1),
            "physical": Out(stream.Signature(RestoredZone(config))),
            "allocated": In(1),
            "sequence": Out(PageIdentity.sequence.width),
            **spare_use_ports(config),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        command = self.command
        first_cycle, later_cycles = Signal(init=1), Signal()
        ends = Signal()
        m.d.comb += [
            self.recovering.eq(Mux(first_cycle, self.recover, later_cycles)),
            self.placement.zone.eq(command.physical),
            self.placement.sequence.eq(command.sequence),
            self.placement.wear.eq(command.wear),
            self.sets_generation.eq(self.execute & (command.action == RestoreAction.STREAM)),
            ends.eq(self.execute & (command.action == RestoreAction.END)),
        ]
        m.d.sync += [first_cycle.eq(0), later_cycles.eq(self.recovering & ~ends)]
        m.d.comb += self.busy.eq(self.physical.valid)

        with m.If(self.physical.valid & self.physical.ready):
            m.d.sync += self.physical.valid.eq(0)
        is_dirty = command.action == RestoreAction.PHYSICAL
        with m.If(self.execute & (is_dirty | (command.action == RestoreAction.ZONE))):
            m.d.sync += [
                self.physical.valid.eq(1),
                self.physical.payload.zone.eq(command.physical),
                self.physical.payload.wear.eq(command.wear),
                self.physical.payload.dirty.eq(is_dirty),
            ]

        if self.config.geometry.spare_blocks:
            self._use_spare(m)

        with m.If(ends):
            m.d.sync += self.sequence.eq(command.sequence)
        with m.Elif(self.allocated):
            m.d.sync += self.sequence.eq(self.sequence + 1)
        return m

    def _use_spare(self, m: Module) -> None:
        command, use, s = self.command, self.spare_use, Submission
        place, number = command.sequence, command.generation  # these fields carry the place of a BLOCK
        m.d.comb += self.busy.eq(self.physical.valid | use.valid)
        with m.If(use.valid & use.ready):
            m.d.sync += use.valid.eq(0)
        with m.If(self.execute & (command.action == RestoreAction.BLOCK)):
            m.d.sync += [
                use.valid.eq(1),
                use.payload.zone.eq(command.physical),
                use.payload.die.eq(place[s.die.within(s.sequence)]),
                use.payload.plane.eq(place[s.plane.within(s.sequence)]),
                use.payload.spare.eq(number[s.spare.within(s.generation)]),
                self.spare_channel.eq(place[s.channel.within(s.sequence)]),
            ]
