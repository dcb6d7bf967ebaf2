"""The zone manager and its units, behind one set of ports."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.layouts import (
    SEQUENCE_BITS,
    TIME_BITS,
    Answer,
    Command,
    Opening,
    ReadJob,
    Retired,
    Settled,
    SpareUse,
    StreamTable,
    WriteJob,
    coded,
)
from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.zones.allocator import WEAR_BITS, ZoneAllocator
from flashtrain.rtl.zones.erase_broadcast import EraseBroadcast, EraseRequest, EraseResult
from flashtrain.rtl.zones.manager import ZoneManager
from flashtrain.rtl.zones.report import ZoneReport
from flashtrain.rtl.zones.table import GENERATION_BITS
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.registers import MAX_STREAMS


class Zones(wiring.Component):
    """The zone manager with its allocator, eraser and report unit. Latency and throughput: see these.

    Members
    -------
    streams, commands, tags, open, write, read, answers, retired, settled, issued, generation : see
      `ZoneManager`
    axi : Out(WritePort)                           reports, through the queue port
    erase : Out(stream(EraseRequest)).array(C)     see `EraseBroadcast`
    erased : In(stream(EraseResult)).array(C)
    spare_uses : Out(stream(SpareUse)).array(C)    if there are spare blocks
    factory : In(1)                                see `ZoneAllocator`
    time : In(32)                                  seconds
    recover : In(1), recovering : Out(1)           see `Restore`
    sequence : Out(32)                             number of the next allocation of a physical zone
    zone_select : In
    zone_wear : Out(21)
    erases : Out(1)                                pulse: a zone was erased
    zone_waits : Out(1)                            a command stalls for an erased zone
    idle : Out(1)                                  no command, nothing to erase or reclaim
    ready : Out(1)                                 initialised
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels = config.geometry.channels
        uses = Out(stream.Signature(SpareUse(config))).array(channels)
        super().__init__({
            "streams": In(StreamTable(config)).array(MAX_STREAMS),
            "commands": In(stream.Signature(Command(config))),
            "tags": In(stream.Signature(config.tag_bits)),
            "open": Out(stream.Signature(Opening(config))),
            "write": Out(stream.Signature(WriteJob(config), always_ready=True)),
            "read": Out(stream.Signature(ReadJob(config), always_ready=True)),
            "answers": Out(stream.Signature(Answer(config))),
            "retired": In(stream.Signature(Retired(config))),
            **coded(config, {"settled": In(stream.Signature(Settled(config)))}),
            "issued": In(SEQUENCE_BITS),
            "generation": Out(GENERATION_BITS).array(MAX_STREAMS),
            "axi": Out(WritePort(address_bits=config.address_bits, data_bits=64)),
            "erase": Out(stream.Signature(EraseRequest(config))).array(channels),
            "erased": In(stream.Signature(EraseResult())).array(channels),
            **({"spare_uses": uses} if config.geometry.spare_blocks else {}),
            "factory": In(1),
            "recover": In(1),
            "time": In(TIME_BITS),
            "recovering": Out(1),
            "sequence": Out(PageIdentity.sequence.width),
            "zone_select": In(config.geometry.zone_bits),
            "zone_wear": Out(WEAR_BITS),
            "erases": Out(1),
            "zone_waits": Out(1),
            "idle": Out(1),
            "ready": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.manager = manager = ZoneManager(self.config)
        m.submodules.allocator = allocator = ZoneAllocator(self.config)
        m.submodules.eraser = eraser = EraseBroadcast(self.config, self.config.geometry.channels)
        m.submodules.report = report = ZoneReport(self.config)

        forward(m, manager, self, ("commands", "tags", "open", "write", "read", "answers", "retired"))
        if self.config.codec:
            connect(m, flipped(self.settled), manager.settled)
        connect(m, manager.next_zone, allocator.next)
        connect(m, manager.release, allocator.release)
        connect(m, manager.restored, allocator.restored)
        connect(m, manager.report, report.request)
        connect(m, manager.report_done, report.done)
        connect(m, allocator.erase, eraser.request)
        connect(m, allocator.erased, eraser.done)
        connect(m, report.axi, flipped(self.axi))
        for channel in range(self.config.geometry.channels):
            connect(m, eraser.erase[channel], flipped(self.erase[channel]))
            connect(m, eraser.erased[channel], flipped(self.erased[channel]))
        if self.config.geometry.spare_blocks:
            use = manager.spare_use
            for channel, spare_use in enumerate(self.spare_uses):
                selected = manager.spare_channel == channel
                m.d.comb += [spare_use.valid.eq(use.valid & selected), spare_use.payload.eq(use.payload)]
                with m.If(selected):
                    m.d.comb += use.ready.eq(spare_use.ready)
        for number in range(MAX_STREAMS):
            m.d.comb += [
                manager.streams[number].eq(self.streams[number]),
                self.generation[number].eq(manager.generation[number]),
            ]
        m.d.comb += [
            manager.issued.eq(self.issued),
            manager.exhausted.eq(allocator.exhausted),
            manager.report_zone.eq(report.zone),
            report.entry.eq(manager.report_entry),
            manager.recover.eq(self.recover),
            manager.time.eq(self.time),
            report.due.eq(manager.report_due),
            self.recovering.eq(manager.recovering),
            self.sequence.eq(manager.sequence),
            allocator.recovering.eq(manager.recovering),
            allocator.factory.eq(self.factory),
            allocator.zone_select.eq(self.zone_select),
            self.zone_wear.eq(allocator.zone_wear),
            self.erases.eq(allocator.erases),
            self.zone_waits.eq(manager.zone_waits),
            self.idle.eq(manager.idle & allocator.idle),
            self.ready.eq(manager.ready & allocator.ready),
        ]
        return m
