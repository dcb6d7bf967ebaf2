"""Block traces on a zoned device: checks of each command against the commands before it.

Zone z begins at block z * `Geometry.zone_size`; a block is a logical block. A write must begin at the write
pointer of its zone. A trim of whole zones resets them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from flashtrain.spec import Geometry

from .block_trace import SECTOR_BYTES, BlockTrace, Operation


@dataclass(frozen=True)
class ZonedCommand:
    """A command in logical blocks; `lba` and `blocks` are 0 for a flush. `index`: of its record."""

    index: int
    op: Operation
    lba: int
    blocks: int


def zoned_commands(trace: BlockTrace, geometry: Geometry) -> Iterator[ZonedCommand]:
    """The commands of a trace for an empty zoned device, each checked against the commands before it.

    :class:`TraceError` names the line of a command that the device would refuse, and the expected address.
    """
    check = _Check(trace, geometry)
    for index, (_time, lba, sectors, op) in enumerate(trace.records.tolist()):
        yield check.command(index, Operation(op), lba, sectors)


class _Check:
    def __init__(self, trace: BlockTrace, geometry: Geometry) -> None:
        self._trace = trace
        self._geometry = geometry
        self._sectors = geometry.page_bytes // SECTOR_BYTES  # of a block
        self._written = [0] * geometry.zones  # blocks, by zone

    def command(self, index: int, op: Operation, lba: int, sectors: int) -> ZonedCommand:
        g, per_block = self._geometry, self._sectors
        if op is Operation.FLUSH:
            return ZonedCommand(index, op, 0, 0)
        if lba % per_block or sectors % per_block:
            raise self._error(
                index, op, lba, f"of {sectors} sectors; expected whole blocks of {per_block} sectors"
            )
        block, count = lba // per_block, sectors // per_block
        zone, offset = divmod(block, g.zone_size)
        if zone >= g.zones:
            end = g.zones * g.zone_size * per_block
            raise self._error(index, op, lba, f"; expected one below {end}, the end of {g.zones} zones")
        if op is Operation.TRIM:
            self._trim(index, lba, block, count)
        elif op is Operation.WRITE:
            self._write(index, lba, zone, offset, count)
        elif offset + count > self._written[zone]:
            end = self._address(zone, self._written[zone])
            raise self._error(
                index, op, lba,
                f"of {sectors} sectors; expected an end of at most {end}, the write pointer of zone {zone}",
            )  # fmt: skip
        return ZonedCommand(index, op, block, count)

    def _write(self, index: int, lba: int, zone: int, offset: int, count: int) -> None:
        capacity, written = self._geometry.zone_capacity, self._written[zone]
        if written == capacity:
            raise self._error(
                index,
                Operation.WRITE,
                lba,
                f"out of place; expected a trim of zone {zone} before, which is full",
            )
        if offset != written:
            raise self._error(
                index, Operation.WRITE, lba,
                f"out of place; expected {self._address(zone, written)}, the write pointer of zone {zone}",
            )  # fmt: skip
        if offset + count > capacity:
            raise self._error(
                index, Operation.WRITE, lba, f"of {count * self._sectors} sectors; expected an end of at most"
                f" {self._address(zone, capacity)}, the end of zone {zone}",
            )  # fmt: skip
        self._written[zone] += count

    def _trim(self, index: int, lba: int, block: int, count: int) -> None:
        g = self._geometry
        zones, left = divmod(count, g.zone_size)
        first, offset = divmod(block, g.zone_size)
        if left == g.zone_capacity:
            zones, left = zones + 1, 0
        if offset or left or not zones or first + zones > g.zones:
            raise self._error(
                index, Operation.TRIM, lba, f"of {count * self._sectors} sectors; expected whole zones of"
                f" {g.zone_size * self._sectors} sectors",
            )  # fmt: skip
        self._written[first : first + zones] = [0] * zones

    def _address(self, zone: int, block: int) -> int:
        return (zone * self._geometry.zone_size + block) * self._sectors

    def _error(self, index: int, op: Operation, lba: int, text: str) -> Exception:
        space = "" if text.startswith(";") else " "
        return self._trace.error(index, f"{op.name.lower()} at sector {lba}{space}{text}")
