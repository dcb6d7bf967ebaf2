"""Writes zone reports into the tensor buffer."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import LBA_BITS, STATUS_BITS
from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.zones.table import ZoneEntry, ZoneTable, is_retired
from flashtrain.spec import FmsConfig, Status, ZoneState
from flashtrain.spec.nvme import BitField, ReportFilter, ReportHeader, ZoneDescriptor

BEATS = ZoneDescriptor.BYTES // 8
"""Beats of the header, and of each descriptor."""

_CHUNK_BITS = slice(6, 12)
"""Of an address: the number of 64 bytes within 4 KiB."""


class ReportRequest(data.StructLayout):
    """A zone report: the manager to the report unit."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "zone": g.zone_bits,  # the first, logical, device-wide
            "index": g.zone_bits,  # the first, within its stream
            "zones": g.zone_bits + 1,  # of the stream, from the first on
            "descriptors": g.zone_bits + 1,  # that there is room for
            "filter": 3,  # ReportFilter
            "partial": 1,  # count the descriptors that are written, not all zones that match
            "address": config.address_bits,  # a multiple of 8
        })  # fmt: skip


class _Kept:
    """Registers of a zone whose descriptor is written."""

    def __init__(self, config: FmsConfig):
        self.entry = Signal(ZoneEntry(config))
        self.due = Signal()  # its data are old
        self.matches = Signal()  # the report has it


class ZoneReport(wiring.Component):
    """Writes the descriptors of the zones that match a filter, and then the header.

    Each is a burst of 8 beats. A descriptor that crosses a boundary of 4 KiB takes two bursts. `done` follows
    the last response.

    An entry is kept while its descriptor is written. So the table looks up the next zone meanwhile, and its
    descriptor follows the last one at once.

    Latency: 6 cycles from a request to its first burst. Throughput: 10 cycles per descriptor, 12 for one with
    two bursts, 5 per zone without a descriptor.

    Members
    -------
    request : In(stream(ReportRequest))
    done : Out(stream(11))              Status: success, or DATA_TRANSFER_ERROR after a failed burst
    zone : Out(zone_bits)               logical zone to look up in the zone table
    entry : In(ZoneEntry)               its entry, `ZoneTable.LOOKUP_CYCLES` later
    due : In(1)                         its data are old, with the entry
    axi : Out(WritePort)                the queue port
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "request": In(stream.Signature(ReportRequest(config))),
            "done": Out(stream.Signature(STATUS_BITS)),
            "zone": Out(config.geometry.zone_bits),
            "entry": In(ZoneEntry(config)),
            "due": In(1),
            "axi": Out(WritePort(address_bits=config.address_bits, data_bits=64)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        request = self.request.payload
        aw, w, b = self.axi.aw, self.axi.w, self.axi.b

        is_header = Signal()
        index = Signal.like(request.index)
        zones = Signal.like(request.zones)  # still to be looked at
        room = Signal.like(request.descriptors)
        total = Signal.like(request.zones)  # zones, as the header has it
        kind, partial = Signal.like(request.filter), Signal()
        start, address = Signal(self.config.address_bits), Signal(self.config.address_bits)
        beat = Signal(range(BEATS))  # whose word is chosen next
        kept = _Kept(self.config)
        passed = Signal(range(ZoneTable.LOOKUP_CYCLES))  # cycles of the lookup
        open_bursts = Signal(range(2 * self.config.geometry.zones + 3))
        failed = Signal()

        described, chunk = Signal(8 * ZoneDescriptor.BYTES), Signal(8 * ZoneDescriptor.BYTES)
        with m.If(is_header):
            m.d.comb += _field(described, ReportHeader.zones).eq(total)
        with m.Else():
            self._describe(m, described, index, kept)
        m.d.sync += chunk.eq(described)  # it is kept a cycle or more before the first word is taken
        word = Signal(64)  # of a beat, chosen a cycle ahead

        # A burst ends with its chunk of 8 beats, or at a boundary of 4 KiB, where the next one begins.
        length, last_beat, is_last = Signal(range(BEATS)), Signal(range(BEATS)), Signal()
        m.d.sync += length.eq(~Mux(address[_CHUNK_BITS].all(), address[3:6], beat))  # 7 - n
        m.d.comb += [
            aw.payload.address.eq(address),
            aw.payload.length.eq(length),
            w.payload.data.eq(word),
            w.payload.last.eq(is_last),
            self.done.payload.eq(Mux(failed, Status.DATA_TRANSFER_ERROR, Status.SUCCESS)),
            b.ready.eq(1),
        ]
        begins, ends, none_open = Signal(), Signal(), Signal()  # of bursts
        m.d.sync += [
            begins.eq(aw.valid & aw.ready),
            ends.eq(b.valid),
            open_bursts.eq(open_bursts + begins - ends),
            none_open.eq((open_bursts == 0) & ~begins),
        ]
        with m.If(b.valid & b.payload.error):
            m.d.sync += failed.eq(1)

        def keep(first: bool = False) -> list:
            """Statements that keep the entry that the table has found."""
            following = [] if first else [index.eq(index + 1), zones.eq(zones - 1)]
            return [
                kept.entry.eq(self.entry),
                kept.due.eq(self.due),
                kept.matches.eq(self._matches(kind)),
                *following,
            ]

        with m.FSM(name="fsm"):
            with m.State("IDLE"):
                m.d.comb += self.request.ready.eq(1)
                m.d.sync += [
                    is_header.eq(0),
                    self.zone.eq(request.zone),
                    index.eq(request.index),
                    zones.eq(request.zones),
                    room.eq(request.descriptors),
                    total.eq(0),
                    kind.eq(request.filter),
                    partial.eq(request.partial),
                    start.eq(request.address),
                    address.eq(request.address + ReportHeader.BYTES),
                    beat.eq(0),
                    failed.eq(0),
                ]
                with m.If(self.request.valid):
                    m.next = "LOOKUP"

            with m.State("LOOKUP"):
                m.d.sync += passed.eq(passed + 1)
                with m.If(passed == ZoneTable.LOOKUP_CYCLES - 1):
                    m.d.sync += passed.eq(0)
                    m.next = "KEEP"

            with m.State("KEEP"):
                m.d.sync += keep(first=True)
                m.next = "ZONE"

            with m.State("ZONE"):
                with m.If((zones == 0) | partial & (room == 0)):
                    m.d.sync += [is_header.eq(1), address.eq(start)]
                    m.next = "MEASURE"
                with m.Elif(~kept.matches | (room == 0)):
                    m.d.sync += [
                        self.zone.eq(self.zone + 1),
                        index.eq(index + 1),
                        zones.eq(zones - 1),
                        total.eq(total + kept.matches),
                    ]
                    m.next = "LOOKUP"
                with m.Else():
                    m.d.sync += [self.zone.eq(self.zone + 1), room.eq(room - 1), total.eq(total + 1)]
                    m.next = "BURST"

            with m.State("MEASURE"):
                m.next = "BURST"

            with m.State("BURST"):
                m.d.comb += aw.valid.eq(1)
                m.d.sync += [
                    word.eq(chunk.word_select(beat, 64)),
                    last_beat.eq(beat + length),
                    is_last.eq(length == 0),
                ]
                with m.If(aw.ready):
                    m.d.sync += beat.eq(beat + 1)
                    m.next = "BEATS"

            with m.State("BEATS"):
                m.d.comb += w.valid.eq(1)
                with m.If(w.ready):
                    m.d.sync += [
                        word.eq(chunk.word_select(beat, 64)),
                        beat.eq(beat + ~is_last),
                        is_last.eq(beat == last_beat),
                        address.eq(address + 8),
                    ]
                    with m.If(is_last):
                        m.next = "MEASURE"
                        with m.If(beat == 0):
                            m.d.sync += keep()
                            m.next = "ZONE"
                            with m.If(is_header):
                                m.next = "WAIT_FOR_RESPONSES"

            with m.State("WAIT_FOR_RESPONSES"):
                m.d.comb += self.done.valid.eq(none_open)
                with m.If(self.done.valid & self.done.ready):
                    m.next = "IDLE"
        return m

    def _matches(self, kind: Signal) -> Value:
        """Whether the report has the zone of `entry`."""
        matches = kind == ReportFilter.ALL
        for which in ReportFilter:
            if which is not ReportFilter.ALL:
                matches |= (kind == which) & (self.entry.state == ZoneState[which.name])
        return matches

    def _describe(self, m: Module, chunk: Signal, index: Signal, kept: "_Kept") -> None:
        """The descriptor of the zone that is kept."""
        g, entry = self.config.geometry, kept.entry
        start = Signal(LBA_BITS)
        m.d.comb += [
            start.eq(index << g.zone_size_bits),
            _field(chunk, ZoneDescriptor.zone_type).eq(ZoneDescriptor.SEQUENTIAL_WRITE_REQUIRED),
            _field(chunk, ZoneDescriptor.state).eq(entry.state),
            _field(chunk, ZoneDescriptor.capacity).eq(g.zone_capacity),
            _field(chunk, ZoneDescriptor.start).eq(start),
            _field(chunk, ZoneDescriptor.write_pointer).eq(start + entry.pointer),
        ]
        state = entry.state
        retired = is_retired(state)
        has_data = entry.mapped
        recommends, is_full = has_data & kept.due & ~retired, state == ZoneState.FULL
        m.d.comb += [
            _field(chunk, ZoneDescriptor.time).eq(Mux(has_data, entry.time, ZoneDescriptor.NO_TIME)),
            _field(chunk, ZoneDescriptor.sequence).eq(
                Mux(has_data, entry.placement.sequence, ZoneDescriptor.NO_SEQUENCE)
            ),
            _field(chunk, ZoneDescriptor.written).eq(entry.pointer),
            _field(chunk, ZoneDescriptor.unsure).eq(has_data & entry.unsure),
            _field(chunk, ZoneDescriptor.reset_recommended).eq(recommends & is_full),
            _field(chunk, ZoneDescriptor.finish_recommended).eq(recommends & ~is_full),
        ]
        with m.If(is_full | retired):
            m.d.comb += _field(chunk, ZoneDescriptor.write_pointer).eq(ZoneDescriptor.NO_POINTER)


def _field(chunk: Signal, field: BitField) -> Value:
    return chunk[field.low : field.low + field.width]
