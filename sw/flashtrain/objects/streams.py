"""The streams of a target, by name."""

from flashtrain.nvme.client.host import BLOCK_EXPONENTS, Host
from flashtrain.nvme.errors import ProtocolError
from flashtrain.nvme.wire.stream_area import StreamArea

from .session import Session
from .stream import Shape, Stream

MOST_TRANSFER_BYTES = 1 << 20
"""The most data of one command, also to a target that would take more."""

_ACTIVE_OF_SET, _NAMESPACE_OF_SET = 0x07, 0x05
_ZONED = 2


class Streams:
    """The zoned namespaces of a target. They are looked up once for each connection."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._number = 0
        self._found: dict[str, Stream] = {}

    def all(self) -> dict[str, Stream]:
        """The streams by name."""
        with self._session.commands() as host:
            if self._number != self._session.number:
                most = _most_transfer(host)
                found = [self._stream(host, nsid, most) for nsid in _active(host)]
                self._found = {stream.name: stream for stream in found}
                self._number = self._session.number
            return self._found

    def named(self, name: str) -> Stream:
        """The stream of a name; FileNotFoundError that names those there are."""
        found = self.all()
        if name not in found:
            known = ", ".join(found) or "none"
            raise FileNotFoundError(
                2, f"{self._session.target.address} has no stream {name!r}; it has {known}"
            )
        return found[name]

    def _stream(self, host: Host, nsid: int, most: int) -> Stream:
        identify, zoned = host.identify(0, nsid), host.identify(_NAMESPACE_OF_SET, nsid, _ZONED)
        used = identify[26] & 0xF
        exponent = identify[128 + 4 * used + 2]
        zone_size = int.from_bytes(zoned[2816 + 16 * used :][:8], "little")
        if exponent not in BLOCK_EXPONENTS or not zone_size:
            raise ProtocolError(
                f"namespace {nsid}: blocks of 2^{exponent} bytes, zones of {zone_size} blocks"
            )
        block_bytes = 1 << exponent
        zones = int.from_bytes(identify[:8], "little") // zone_size
        shape = Shape(block_bytes, zones, zone_size, max(1, most // block_bytes))
        return Stream(self._session, nsid, StreamArea.parse(identify), shape)


def _active(host: Host) -> list[int]:
    """The NSIDs of the namespaces of the zoned command set."""
    raw = host.identify(_ACTIVE_OF_SET, 0, _ZONED)
    nsids = (int.from_bytes(raw[place : place + 4], "little") for place in range(0, len(raw), 4))
    return [nsid for nsid in nsids if nsid]


def _most_transfer(host: Host) -> int:
    """MDTS in bytes; the unit is the smallest page, of 4 KiB."""
    exponent = host.identify(1)[77]
    return min(4096 << exponent, MOST_TRANSFER_BYTES) if exponent else MOST_TRANSFER_BYTES
