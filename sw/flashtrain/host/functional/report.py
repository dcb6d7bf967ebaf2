"""Zone reports as bytes."""

from flashtrain.spec import Geometry, ZoneState
from flashtrain.spec.nvme import RETIRED, ReportHeader, ZoneDescriptor

from .zones import StreamZones, Zone


def zone_report(stream: StreamZones, first: int, room: int, partial: bool, geometry: Geometry) -> bytes:
    """The report on the zones of a stream from zone `first` on, cut to `room` bytes."""
    zones = stream.zones
    count = min(len(zones) - first, (room - ReportHeader.BYTES) // ZoneDescriptor.BYTES)
    total = count if partial else len(zones) - first
    descriptors = (
        _descriptor(zones[index], index * geometry.zone_size, geometry.zone_capacity, stream.due(index))
        for index in range(first, first + count)
    )
    header = ReportHeader.zones.put(total).to_bytes(ReportHeader.BYTES, "little")
    return header + b"".join(descriptors)


def _descriptor(zone: Zone, start: int, capacity: int, due: bool) -> bytes:
    d = ZoneDescriptor
    pointless = zone.state is ZoneState.FULL or zone.state in RETIRED
    value = (
        d.zone_type.put(d.SEQUENTIAL_WRITE_REQUIRED)
        | d.state.put(zone.state)
        | d.reset_recommended.put(due)
        | d.capacity.put(capacity)
        | d.start.put(start)
        | d.write_pointer.put(d.NO_POINTER if pointless else start + zone.written)
        | d.time.put(zone.time if zone.written else d.NO_TIME)
    )
    return value.to_bytes(d.BYTES, "little")
