"""Zone reports as bytes."""

from flashtrain.spec import Geometry, ZoneState
from flashtrain.spec.nvme import RETIRED, ReportFilter, ReportHeader, ZoneDescriptor

from .zones import StreamZones, Zone


def zone_report(
    stream: StreamZones, first: int, room: int, which: ReportFilter, partial: bool, geometry: Geometry
) -> bytes:
    """The report on the zones of a stream from zone `first` on that match a filter, cut to `room` bytes."""
    state = None if which is ReportFilter.ALL else ZoneState[which.name]
    listed = [
        index for index in range(first, len(stream.zones)) if state in (None, stream.zones[index].state)
    ]
    described = listed[: (room - ReportHeader.BYTES) // ZoneDescriptor.BYTES]
    descriptors = (
        _descriptor(
            stream.zones[index], index * geometry.zone_size, geometry.zone_capacity, stream.due(index)
        )
        for index in described
    )
    header = ReportHeader.zones.put(len(described if partial else listed)).to_bytes(
        ReportHeader.BYTES, "little"
    )
    return header + b"".join(descriptors)


def _descriptor(zone: Zone, start: int, capacity: int, due: bool) -> bytes:
    d = ZoneDescriptor
    full = zone.state is ZoneState.FULL
    pointless = full or zone.state in RETIRED
    value = (
        d.zone_type.put(d.SEQUENTIAL_WRITE_REQUIRED)
        | d.state.put(zone.state)
        | d.finish_recommended.put(due and not full)
        | d.reset_recommended.put(due and full)
        | d.capacity.put(capacity)
        | d.start.put(start)
        | d.write_pointer.put(d.NO_POINTER if pointless else start + zone.written)
        | d.time.put(zone.time if zone.written else d.NO_TIME)
        | d.sequence.put(zone.sequence if zone.written else d.NO_SEQUENCE)
        | d.written.put(zone.written)
        | d.unsure.put(zone.unsure)
    )
    return value.to_bytes(d.BYTES, "little")
