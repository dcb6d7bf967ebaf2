"""Zone reports as bytes."""

from flashtrain.spec import Geometry, ZoneState
from flashtrain.spec.nvme import ReportHeader, ZoneDescriptor

from .zones import RETIRED, Zone

_NO_POINTER = (1 << ZoneDescriptor.write_pointer.width) - 1


def zone_report(zones: list[Zone], first: int, room: int, partial: bool, geometry: Geometry) -> bytes:
    """The report on the zones of a stream from zone `first` on, as much of it as `room` bytes hold."""
    count = min(len(zones) - first, (room - ReportHeader.BYTES) // ZoneDescriptor.BYTES)
    total = count if partial else len(zones) - first
    descriptors = (
        _descriptor(zones[index], index * geometry.zone_size, geometry.zone_capacity)
        for index in range(first, first + count)
    )
    header = ReportHeader.zones.put(total).to_bytes(ReportHeader.BYTES, "little")
    return header + b"".join(descriptors)


def _descriptor(zone: Zone, start: int, capacity: int) -> bytes:
    d = ZoneDescriptor
    pointless = zone.state is ZoneState.FULL or zone.state in RETIRED
    value = (
        d.zone_type.put(d.SEQUENTIAL_WRITE_REQUIRED)
        | d.state.put(zone.state)
        | d.capacity.put(capacity)
        | d.start.put(start)
        | d.write_pointer.put(_NO_POINTER if pointless else start + zone.written)
    )
    return value.to_bytes(d.BYTES, "little")
