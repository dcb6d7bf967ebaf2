"""The mapping of one stream's zones to the flash."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.identity import GENERATION_LIMIT

from .pages import Bytes, Owner, Stamp
from .physical import PhysicalZones


@dataclass(frozen=True)
class Mapping:
    """The physical zone of a logical one, and the owner that the identities of its pages must name."""

    physical: int
    owner: Owner


class Storage:
    """The pages of stream `nsid`, whose zones begin at the device's logical zone `first_zone`."""

    def __init__(self, nsid: int, first_zone: int, physical: PhysicalZones) -> None:
        self._nsid = nsid
        self.first_zone = first_zone
        self._physical = physical
        self._zones: dict[int, Mapping] = {}

    def append(self, zone: int, offset: int, data: Bytes, generation: int) -> None:
        """Program pages of `zone` from its page `offset` on, which are empty before.

        data: uint8[pages, page_bytes].
        """
        mapping = self._mapping(zone, generation)
        self._physical.program(mapping.physical, offset, data, Stamp(mapping.owner, updated=False))

    def append_tiles(
        self, zone: int, offset: int, data: Bytes, generation: int, damaged: NDArray[np.bool_]
    ) -> None:
        """As :meth:`append`, for the result of an update: `damaged` pages get no identity."""
        mapping = self._mapping(zone, generation)
        whole = Stamp(mapping.owner, updated=True)
        if not damaged.any():
            self._physical.program(mapping.physical, offset, data, whole)
            return
        for number, lost in enumerate(damaged):
            stamp = Stamp(None, updated=True) if lost else whole
            self._physical.program(mapping.physical, offset + number, data[number : number + 1], stamp)

    def read(self, zone: int, offset: int, out: Bytes) -> NDArray[np.bool_]:
        """Copy pages of `zone` from its page `offset` on to `out`, uint8[pages, page_bytes].

        Returns which are lost, bool[pages]: those without the zone's owner. Their rows of `out` stay as they
        are.
        """
        mapping = self._zones[zone]
        return self._physical.read(mapping.physical, offset, out, mapping.owner)

    def _mapping(self, zone: int, generation: int) -> Mapping:
        """The mapping of `zone`, which is allocated with its first page."""
        if zone not in self._zones:
            sequence, physical = self._physical.sequence, self._physical.take()
            self.restore(zone, generation, physical, sequence, self._physical.wear[physical])
        return self._zones[zone]

    def restore(self, zone: int, generation: int, physical: int, sequence: int, wear: int) -> None:
        """Map `zone` to zone `physical`."""
        generation %= GENERATION_LIMIT
        owner = Owner(self._nsid, self.first_zone + zone, generation, sequence, wear)
        self._zones[zone] = Mapping(physical, owner)

    def drop(self, zone: int) -> None:
        """Release the physical zone of `zone`, if it has one."""
        mapping = self._zones.pop(zone, None)
        if mapping is not None:
            self._physical.release(mapping.physical)
