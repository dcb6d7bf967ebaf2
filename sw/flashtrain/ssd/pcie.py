"""PCI Express links: the bytes of data that their framing leaves.

The constants are those of the PCI Express Base Specification, as public texts repeat them. AN708 is Intel's
application note 708, "Understanding PCI Express Throughput". Skip ordered sets (16 to 24 bytes each, AN708),
read requests, and doorbells, commands and completions of NVMe are left out, which favours the link.
"""

from dataclasses import dataclass

from flashtrain.spec.errors import require_power_of_two, require_range

TRANSFERS_PER_SECOND = {3: 8e9, 4: 16e9, 5: 32e9, 6: 64e9}
"""Of a lane, by generation: PCI Express Base Specification, the revision of that number."""

ENCODING = (128, 130)
"""Bits of data, and bits on the lane, of a block of generations 3 to 5 (AN708)."""

FLIT_TLP_BYTES, FLIT_BYTES = 236, 256
"""Bytes of transaction packets in a flit of generation 6, and all of it. The rest is 6 bytes of the data link
layer, 8 of CRC and 6 of error correction. A flit has no other code (1b/1b). Revision 6.2, as repeated in
blog.csdn.net/weixin_43770660/article/details/141707780."""

HEADER_BYTES = 16
"""Header of a write with a 64-bit address, four words (AN708), by which a drive sends data. A completion, by
which it fetches data, has three; it is taken to have four. In flits both are as large (assumption)."""

FRAMING_BYTES = 8
"""Framing with the sequence number (4) and LCRC (4) of a packet before generation 6: revision 3.0."""

DLLP_BYTES = 8
"""A packet of the data link layer, two words (AN708)."""

DLLPS_FOR_A_PACKET = 2
"""An acknowledgement and an update of flow control for each packet that comes. An assumption, and a high one:
a receiver may answer several packets together. In generation 6 they have their place in the flit."""

MOST_PAYLOAD = 4096
"""The largest payload that the specification permits: 1024 words (AN708)."""


@dataclass(frozen=True)
class PcieLink:
    """A link of some generation and lanes.

    payload_bytes: data of a packet; 256 is an assumption, the most that usual hosts allow.
    """

    generation: int
    lanes: int = 4
    payload_bytes: int = 256

    def __post_init__(self) -> None:
        require_range(
            "link.generation", self.generation, min(TRANSFERS_PER_SECOND), max(TRANSFERS_PER_SECOND)
        )
        require_power_of_two("link.lanes", self.lanes, 1, 16)
        require_power_of_two("link.payload_bytes", self.payload_bytes, 128, MOST_PAYLOAD)

    def __str__(self) -> str:
        return f"PCIe {self.generation}.0 x{self.lanes}"

    @property
    def flits(self) -> bool:
        return self.generation >= 6

    @property
    def packet_bytes_per_second(self) -> float:
        """Bytes of packets each way, behind the encoding or the flits."""
        data, coded = (FLIT_TLP_BYTES, FLIT_BYTES) if self.flits else ENCODING
        return self.lanes * TRANSFERS_PER_SECOND[self.generation] / 8 * data / coded

    @property
    def bytes_per_second(self) -> float:
        """Data one way, with nothing the other way: no acknowledgement shares the lanes with them."""
        return self._data_rate(0)

    @property
    def both_ways(self) -> float:
        """Data each way, with as many the other way: packets share the lanes with their acknowledgements."""
        return self._data_rate(0 if self.flits else DLLPS_FOR_A_PACKET * DLLP_BYTES)

    def _data_rate(self, beside: int) -> float:
        """beside: bytes of the data link layer for each packet."""
        packet = self.payload_bytes + HEADER_BYTES + (0 if self.flits else FRAMING_BYTES) + beside
        return self.packet_bytes_per_second * self.payload_bytes / packet
