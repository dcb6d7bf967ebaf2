"""One command of the stream: a port, an entry, and how it came to be."""

from dataclasses import dataclass

from flashtrain.spec import Opcode, Port, Submission

_SHOWN = (
    "fuse", "psdt", "cid", "nsid", "slba", "nlb", "action", "select_all", "report_options", "partial",
    "pages", "copies", "rows", "source", "source_page", "expanded", "exact", "address", "length", "sgl_type",
)  # fmt: skip
_OPCODES = frozenset(Opcode)


@dataclass(frozen=True)
class Payload:
    """Bytes that the host puts into the tensor buffer before it submits the command."""

    address: int
    content: bytes


@dataclass(frozen=True)
class FuzzCommand:
    """kind: how it was made."""

    port: Port
    entry: int
    kind: str
    payload: Payload | None = None

    @property
    def cid(self) -> int:
        return Submission.cid.get(self.entry)

    @property
    def opcode(self) -> int:
        return Submission.opcode.get(self.entry)

    @property
    def raw(self) -> bytes:
        return self.entry.to_bytes(Submission.BYTES, "little")

    @property
    def name(self) -> str:
        return Opcode(self.opcode).name if self.opcode in _OPCODES else f"opcode {self.opcode:#04x}"

    def __str__(self) -> str:
        """The entry, decoded and in hexadecimal."""
        fields = ", ".join(
            f"{field} {value:#x}"
            for field in _SHOWN
            if (value := getattr(Submission, field).get(self.entry)) or field == "nsid"
        )
        return f"{self.name} of port {self.port.name} ({self.kind}): {fields}; entry {self.raw.hex()}"
