"""The stream table as the registers hold it."""

from dataclasses import dataclass

from flashtrain.spec import Access, FmsConfig, Port
from flashtrain.spec.registers import MAX_STREAMS, StreamAttributes, StreamRegister, stream_register
from flashtrain.spec.streams import Codec, Retention

from .registers import RegisterFile

_RETENTIONS = frozenset(Retention)


@dataclass(frozen=True)
class StreamSettings:
    """One valid stream.

    - zones, first: the number of its zones, and its first zone in the device.
    - access: the rights of each port.
    - non_volatile: an append is answered after its programs.
    - due, limit: the ages in seconds at which data are due, and at which they are refused; None: never.
    - codec: of its data; RAW for none.
    """

    zones: int
    access: dict[Port, Access]
    first: int = 0
    non_volatile: bool = False
    due: int | None = None
    limit: int | None = None
    codec: Codec = Codec.RAW


def stream_table(registers: RegisterFile, config: FmsConfig) -> dict[int, StreamSettings]:
    """The valid streams by NSID: a valid stream lies within the device, which has its codec."""
    table = {}
    codecs = frozenset(Codec) if config.codec else frozenset({Codec.RAW})
    for nsid in range(1, MAX_STREAMS + 1):
        extent = registers[stream_register(nsid, StreamRegister.ZONES)]
        attributes = registers[stream_register(nsid, StreamRegister.ATTRIBUTES)]
        first, zones = extent & 0xFFFF, extent >> 16

        def field(which, attributes=attributes) -> int:
            return attributes >> which.low & (1 << which.width) - 1

        codec = field(StreamAttributes.codec)
        if field(StreamAttributes.valid) and codec in codecs and first + zones <= config.geometry.zones:
            access = {
                Port.HOST: Access(field(StreamAttributes.host)),
                Port.CORE: Access(field(StreamAttributes.core)),
            }
            number = field(StreamAttributes.retention)
            retention = Retention(number) if number in _RETENTIONS else None
            due = None if retention is None else retention.due
            limit = retention.limit if retention is not None and field(StreamAttributes.refuses) else None
            non_volatile = bool(field(StreamAttributes.non_volatile))
            table[nsid] = StreamSettings(zones, access, first, non_volatile, due, limit, Codec(codec))
    return table
