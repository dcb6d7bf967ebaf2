"""I/O commands of NVMe hosts as commands of the controller, and its completions as those of the hosts.

Hosts on PCI Express have opcodes and fields of the standard only. `rtl.pcie.command_translator` makes this
translation, and :class:`HostCommands` is its model. A command is answered with the status of the first check
that fails:

1. PSDT is not 11b: the data pointer is a pair of PRPs or an SGL (`INVALID_FIELD`);
2. the opcode is one of `HOST_OPCODES` (`INVALID_OPCODE`);
3. FUSE is 0 (`INVALID_FIELD`);
4. NSID is that of a namespace. Others up to the highest one are inactive, and FFFFFFFFh is taken by a flush
   only (`INVALID_FIELD`); there are no more (`INVALID_NAMESPACE`);
5. read, write, append: the data are within the transfer limit (`INVALID_FIELD`), the last block is in the
   namespace (`LBA_OUT_OF_RANGE`);
6. report: the same limit, ZRA and reporting options are known (`INVALID_FIELD`), SLBA is in the namespace
   (`LBA_OUT_OF_RANGE`);
7. the data pointer is right, and its lists can be read.

All other checks are the controller's (`spec.nvme`), on port HOST: what the host may do to the stream among
them. Its commands have the fields of the standard alone, so no bit of a host reaches one of the vendor.
NSID is the number of the stream.

The steps of a command:

- A write or append with FUA to a volatile stream is followed by a flush of the stream.
- A flush of FFFFFFFFh is one of each namespace that the host may append to, in the order of NSIDs.
- A read that answers UNWRITTEN_BLOCK is one of each of its blocks, unless the host requires the error
  (DULBE). From the first block that answers so again, zeros are written, and the command succeeds.
- All others are one command. The first step that fails ends the command with its status.

The result is the LBA of a successful append, and 0 of all others. Where the host's memory has refused data,
the status is DATA_TRANSFER_ERROR. CIDs that are in use are not looked for (NVM Express Base 2.0, Figure 94).
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .config import FmsConfig
from .nvme import BitField, Opcode, ReportFilter, Status, Submission, ZoneReport
from .pcie import RESERVED_PSDT
from .streams import CATALOG, JOURNAL, Access, Codec, NodeTable, Persistency, Port, Stream

HOST_OPCODES = (
    Opcode.FLUSH, Opcode.WRITE, Opcode.READ, Opcode.ZONE_MANAGEMENT_SEND, Opcode.ZONE_MANAGEMENT_RECEIVE,
    Opcode.ZONE_APPEND,
)  # fmt: skip
"""The commands of the standard that the controller has."""

BLOCK_OPCODES = (Opcode.WRITE, Opcode.READ, Opcode.ZONE_APPEND)
EVERY_NAMESPACE = 0xFFFF_FFFF
"""NSID of all namespaces (NVM Express Base 2.0, section 3.2.1.2)."""

FORCE_UNIT_ACCESS = BitField(12 * 32 + 30, 1)
"""FUA of a write or an append (NVM Command Set 1.0, Figure 58; ZNS 1.1, Figure 25)."""


def is_namespace(stream: Stream) -> bool:
    """Whether hosts of NVMe see a stream.

    Journal and catalog belong to the driver. A stream with a codec has no blocks that a host could address.
    A stream without rights for hosts is an inactive namespace.
    """
    return (
        stream.name not in (JOURNAL, CATALOG)
        and stream.codec is Codec.RAW
        and stream.access(Port.HOST) is not Access.NONE
    )


class HostNamespace(NamedTuple):
    """A namespace. `volatile`: a write may be answered before its program, so FUA has an effect.

    - zones: their number. appends: the host may append.
    - fails_on_unwritten: reads of unwritten blocks are errors, and no zeros (DULBE).
    """

    zones: int
    appends: bool
    volatile: bool
    fails_on_unwritten: bool = False


class Answer(NamedTuple):
    """The content of a completion. `unreachable`: the host's memory has refused data of the command."""

    status: int
    result: int = 0
    unreachable: bool = False


class Zeros(NamedTuple):
    """A step without the controller: bytes of a command's data become 0."""

    address: int
    length: int


Steps = Generator[int | Zeros, Answer, Answer]
"""Submission entries of the controller out, its answers in, and the host's answer at the end."""


@dataclass(frozen=True)
class HostCommands:
    """The translation. `zone_size` is in blocks, `most_bytes` the limit of a transfer."""

    namespaces: Mapping[int, HostNamespace]
    zone_size: int
    block_bytes: int
    most_bytes: int

    @classmethod
    def of(cls, config: FmsConfig, node: NodeTable, most_bytes: int) -> "HostCommands":
        zones = node.zones(config.geometry.zones)
        namespaces = {
            stream.nsid: HostNamespace(
                len(zones[stream.nsid]),
                Access.APPEND in stream.access(Port.HOST),
                stream.persistency is Persistency.VOLATILE,
            )
            for stream in node.streams
            if is_namespace(stream)
        }
        return cls(namespaces, config.geometry.zone_size, config.geometry.page_bytes, most_bytes)

    def length(self, entry: int) -> int:
        """Bytes of data that an entry names; 0 for an opcode without data."""
        s = Submission
        opcode = s.opcode.get(entry)
        if opcode in BLOCK_OPCODES:
            return (s.nlb.get(entry) + 1) * self.block_bytes
        return 4 * (s.dwords.get(entry) + 1) if opcode == Opcode.ZONE_MANAGEMENT_RECEIVE else 0

    def refusal(self, entry: int, pointer: int = Status.SUCCESS) -> int:
        """The status of the checks; SUCCESS for a command that the controller gets.

        `pointer`: the status of the data pointer.
        """
        s = Submission
        opcode, nsid, slba = s.opcode.get(entry), s.nsid.get(entry), s.slba.get(entry)
        if s.psdt.get(entry) == RESERVED_PSDT:
            return Status.INVALID_FIELD
        if opcode not in HOST_OPCODES:
            return Status.INVALID_OPCODE
        if s.fuse.get(entry):
            return Status.INVALID_FIELD
        if opcode == Opcode.FLUSH and nsid == EVERY_NAMESPACE:
            return Status.SUCCESS
        if nsid not in self.namespaces:
            is_unused = 0 < nsid <= max(self.namespaces, default=0) or nsid == EVERY_NAMESPACE
            return Status.INVALID_FIELD if is_unused else Status.INVALID_NAMESPACE
        if not (length := self.length(entry)):
            return Status.SUCCESS
        last, limit = slba, self.namespaces[nsid].zones * self.zone_size
        if opcode == Opcode.ZONE_MANAGEMENT_RECEIVE:
            wrong = s.action.get(entry) not in tuple(ZoneReport)
            wrong |= s.report_options.get(entry) not in tuple(ReportFilter)
        else:
            wrong = False
            last += s.nlb.get(entry)
        if wrong or length > self.most_bytes:
            return Status.INVALID_FIELD
        return Status.LBA_OUT_OF_RANGE if last >= limit else pointer

    def steps(self, entry: int, cid: int, address: int) -> Steps:
        """The steps of a command without a refusal, with the controller's CID and the address of its data."""
        s = Submission
        opcode, nsid = Opcode(s.opcode.get(entry)), s.nsid.get(entry)
        if opcode == Opcode.FLUSH:
            every = nsid == EVERY_NAMESPACE
            some = sorted(n for n, one in self.namespaces.items() if one.appends) if every else [nsid]
            return (yield from self._flush(some, cid))
        fields = {"opcode": opcode, "nsid": nsid, "cid": cid, "slba": s.slba.get(entry)}
        if length := self.length(entry):
            fields |= {"psdt": s.PSDT_SGL, "address": address, "length": length}
        names = {
            Opcode.ZONE_MANAGEMENT_SEND: ("action", "select_all"),
            Opcode.ZONE_MANAGEMENT_RECEIVE: ("dwords", "action", "report_options", "partial"),
        }.get(opcode, ("nlb",))
        fields |= {name: getattr(s, name).get(entry) for name in names}
        answer = yield _entry(fields)
        if opcode == Opcode.READ and not self.namespaces[nsid].fails_on_unwritten and _is_unwritten(answer):
            answer = yield from self._read_written(fields)
        if answer.unreachable:
            return Answer(Status.DATA_TRANSFER_ERROR)
        if answer.status != Status.SUCCESS:
            return Answer(answer.status)
        writes = opcode in (Opcode.WRITE, Opcode.ZONE_APPEND)
        if writes and FORCE_UNIT_ACCESS.get(entry) and self.namespaces[nsid].volatile:
            flushed = yield from self._flush([nsid], cid)
            if flushed.status != Status.SUCCESS:
                return flushed
        return Answer(Status.SUCCESS, answer.result if opcode == Opcode.ZONE_APPEND else 0)

    def _read_written(self, fields: Mapping[str, int]) -> Steps:
        """The steps of a read behind the answer UNWRITTEN_BLOCK."""
        size, count = self.block_bytes, fields["nlb"] + 1
        first = fields["address"]
        for number in range(count):
            address, found = first + number * size, Answer(Status.UNWRITTEN_BLOCK)
            if count > 1:
                one = {"slba": fields["slba"] + number, "nlb": 0, "address": address, "length": size}
                found = yield _entry({**fields, **one})
            if _is_unwritten(found):
                yield Zeros(address, (count - number) * size)
                break
            if found.unreachable or found.status != Status.SUCCESS:
                return found
        return Answer(Status.SUCCESS)

    def _flush(self, nsids: list[int], cid: int) -> Steps:
        for nsid in nsids:
            answer = yield _entry({"opcode": Opcode.FLUSH, "nsid": nsid, "cid": cid})
            if answer.status != Status.SUCCESS:
                return Answer(answer.status)
        return Answer(Status.SUCCESS)


def _is_unwritten(answer: Answer) -> bool:
    return answer.status == Status.UNWRITTEN_BLOCK and not answer.unreachable


def _entry(fields: Mapping[str, int]) -> int:
    return sum(getattr(Submission, name).put(value) for name, value in fields.items())
