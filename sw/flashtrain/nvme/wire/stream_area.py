"""The stream behind a namespace: the vendor specific bytes of Identify Namespace (NVM figure 97)."""

import struct
from dataclasses import dataclass

from flashtrain.nvme.errors import ProtocolError, ServeError
from flashtrain.spec import Access, Persistency
from flashtrain.spec.streams import Retention

OFFSET = 384
MAGIC = b"FTSTREAM"
_FIELDS = struct.Struct("<8sBBBBB")
_MOST_NAME_BYTES = 128


@dataclass(frozen=True)
class StreamArea:
    """A stream as its table has it, with the rights of the host port."""

    name: str
    access: Access
    persistency: Persistency
    retention: Retention

    def packed(self) -> bytes:
        """The bytes from `OFFSET` on."""
        name = self.name.encode()
        if len(name) > _MOST_NAME_BYTES:
            raise ServeError(f"stream {self.name!r}: its name has more than {_MOST_NAME_BYTES} bytes")
        return _FIELDS.pack(MAGIC, 1, self.access, self.persistency, self.retention, len(name)) + name

    @classmethod
    def parse(cls, identify: bytes) -> "StreamArea | None":
        """The stream of an Identify Namespace structure; None if it is another vendor's.

        :class:`ProtocolError` if it is wrong.
        """
        magic, version, access, persistency, retention, length = _FIELDS.unpack_from(identify, OFFSET)
        if magic != MAGIC or version != 1:
            return None
        start = OFFSET + _FIELDS.size
        try:
            name = identify[start : start + length].decode()
            return cls(name, Access(access), Persistency(persistency), Retention(retention))
        except ValueError as error:
            raise ProtocolError(f"a stream with a name, rights or a class that is none: {error}") from None
