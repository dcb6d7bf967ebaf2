"""Recovery after a loss of power: how long it lasts, and what it loads beside the zone table."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import Command, SpareUse
from flashtrain.rtl.zones.table import Placement
from flashtrain.spec import FmsConfig, Submission
from flashtrain.spec.identity import PageIdentity, RestoreAction


class RestoredZone(data.StructLayout):
    """What is known of a physical zone after a loss of power: restore unit to allocator."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "zone": config.geometry.block_bits,
            "wear": PageIdentity.wear.width,
            "dirty": 1,  # nobody needs its content
        })  # fmt: skip


def spare_use_ports(config: FmsConfig) -> dict:
    """Members of who tells channels what their spare blocks replace, if there are any."""
    g = config.geometry
    if not g.spare_blocks:
        return {}
    return {"spare_use": Out(stream.Signature(SpareUse(config))), "spare_channel": Out(g.channel_bits)}


class Restore(wiring.Component):
    """Carries out RESTORE commands (`flashtrain.spec.identity`) but for the zone table and the generations,
    and numbers the allocations of physical zones, because recovery sets that number.

    `placement` and `sets_generation` are combinational; the rest follows `execute` and `allocated` by a
    clock.

    Members
    -------
    recover : In(1)              the controller is to recover; in the first clock after reset
    recovering : Out(1)          it does, from that clock on
    command : In(Command)
    execute : In(1)              `command` is a RESTORE, and right; not while `busy`
    busy : Out(1)                what it has told has not been taken yet
    placement : Out(Placement)   of the zone that it restores
    sets_generation : Out(1)     its stream gets its generation
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
        first, since_first = Signal(init=1), Signal()
        ends = Signal()
        m.d.comb += [
            self.recovering.eq(Mux(first, self.recover, since_first)),
            self.placement.zone.eq(command.physical),
            self.placement.sequence.eq(command.sequence),
            self.placement.wear.eq(command.wear),
            self.sets_generation.eq(self.execute & (command.action == RestoreAction.STREAM)),
            ends.eq(self.execute & (command.action == RestoreAction.END)),
        ]
        m.d.sync += [first.eq(0), since_first.eq(self.recovering & ~ends)]
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
        place, number = command.sequence, command.generation  # here they mean other things
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
