"""Structs of the function on PCI Express."""

from amaranth.hdl import Shape
from amaranth.lib import data, enum

from flashtrain.rtl.layouts import STATUS_BITS
from flashtrain.rtl.lib.axi import WritePort
from flashtrain.spec import FmsConfig, Submission
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nvme import BitField, Completion
from flashtrain.spec.pcie import (
    BAR_BYTES,
    DOORBELL_BYTES,
    DOORBELLS,
    MAX_ADMIN_ENTRIES,
    MAX_ENTRIES,
    MAX_PAGE_EXPONENT,
    MAX_QUEUES,
    PAGE_BITS,
    REQUEST_BYTES,
    VECTORS,
    WORD_BYTES,
    MailboxChangeKind,
    MailboxVector,
    TlpSizes,
)
from flashtrain.spec.registers import MAX_STREAMS

ADDRESS_BITS = 64
"""Of the host's memory."""
DWORD_BITS = 32
OFFSET_BITS = bits_for(BAR_BYTES // 4)
"""Of a dword in the BAR."""
DOORBELL_BITS = bits_for((VECTORS - DOORBELLS) // DOORBELL_BYTES)
INDEX_BITS = bits_for(MAX_ADMIN_ENTRIES)
"""Of an entry in a queue."""
QUEUE_BITS = bits_for(MAX_QUEUES + 1)
"""Of the number of a queue, and of a vector."""
OPEN_BITS = bits_for(MAX_ENTRIES)
"""Of the number of commands of an I/O submission queue that are not answered: each has its place."""
PAGE_EXPONENT_BITS = 3
"""Pages of 4 KiB times a power of two."""


BURST_BEATS = REQUEST_BYTES // WORD_BYTES
"""Of a burst of words, at most."""
LENGTH_BITS = bits_for(REQUEST_BYTES // 4 + 1)
REQUEST_BITS = bits_for(REQUEST_BYTES)
"""Of a byte's place in a block of 128 bytes."""
HALF_BYTES = 64
"""The least Read Completion Boundary: a completion ends at a multiple of it, or with its request."""


BLOCK_BYTES, MOST_BYTES = 16 << 10, 1 << 20
"""A logical block, and the data of a command, where nothing else is chosen."""
NSID_BITS = bits_for(MAX_STREAMS + 1)
OPTION_BITS = Submission.partial.low + Submission.partial.width - Submission.action.low
"""Of an action, and of the options of a report beside it."""
PIECE_BITS = bits_for(MOST_BYTES + 1)
ROOM_BITS = bits_for((1 << PAGE_BITS) // 4 + 1)
"""Of dwords within 4 KiB."""
PAGE_LENGTH_BITS = bits_for((1 << PAGE_BITS + MAX_PAGE_EXPONENT) + 1)


class TlpRequest(data.StructLayout):
    """A memory request. `length`: dwords. `tag`: of a read, from its request to the end of its completions.

    `address` is a multiple of 4. No request crosses a multiple of 128 bytes.
    """

    def __init__(self, sizes: TlpSizes):
        super().__init__({
            "write": 1, "address": ADDRESS_BITS, "length": LENGTH_BITS, "tag": bits_for(sizes.tags),
        })  # fmt: skip


class TlpData(data.StructLayout):
    """A beat of the data of a write. `last`: of the request.

    A byte is in the lane of its address modulo `port_bytes`. Lanes outside of the request have no meaning.
    """

    def __init__(self, sizes: TlpSizes):
        super().__init__({"data": 8 * sizes.port_bytes, "last": 1})


class TlpCompletion(data.StructLayout):
    """A beat of a completion, in the lanes of `TlpData`. A read has one completion or several, in order.

    - halves: of a beat of 128 bytes, which halves it has. Both come in their order.
    - end: the last beat of the request: its byte count is used up, or it has failed.
    - failed: the status is not successful, the data are poisoned, or the completion has timed out. The beat
      has no data, and is the last.
    """

    def __init__(self, sizes: TlpSizes):
        halves = {"halves": 2} if sizes.port_bytes > HALF_BYTES else {}
        super().__init__({
            "data": 8 * sizes.port_bytes, "tag": bits_for(sizes.tags), **halves, "end": 1, "failed": 1,
        })  # fmt: skip


class WordPort(WritePort):
    """Writes of the host's memory in words of 8 bytes. A burst of one word may have a masked dword."""

    PARTS = 8 * WORD_BYTES // DWORD_BITS

    def __init__(self):
        super().__init__(address_bits=ADDRESS_BITS, data_bits=8 * WORD_BYTES, parts=self.PARTS)


class HostWrite(data.StructLayout):
    """A beat of a write of the host's memory, with its request. Lanes are those of `TlpData`.

    `address` and `length`, in dwords, are those of the request in each of its beats, within 128 bytes.
    """

    def __init__(self, port_bytes: int):
        super().__init__({
            "address": ADDRESS_BITS, "length": LENGTH_BITS, "data": 8 * port_bytes, "last": 1,
        })  # fmt: skip


class Access(data.StructLayout):
    """A read or write of a dword in the BAR."""

    def __init__(self):
        super().__init__({"write": 1, "offset": OFFSET_BITS, "data": DWORD_BITS})


class Doorbell(data.StructLayout):
    """A doorbell that the host has written. `of_completions`: of the completion queue with that number."""

    def __init__(self):
        super().__init__({"of_completions": 1, "queue": DOORBELL_BITS - 1, "value": 16})


class AdminQueues(data.StructLayout):
    """AQA, ASQ and ACQ; sizes are entries - 1."""

    def __init__(self):
        super().__init__({
            "sq_base": ADDRESS_BITS, "sq_size": INDEX_BITS, "cq_base": ADDRESS_BITS, "cq_size": INDEX_BITS,
        })  # fmt: skip


class Message(data.StructLayout):
    """A message of MSI-X: the write of a dword."""

    def __init__(self):
        super().__init__({"address": ADDRESS_BITS, "data": DWORD_BITS})


class ChangeKind(enum.Enum, shape=Shape(2)):
    """Kinds of changes of queues."""

    CREATE_COMPLETIONS = MailboxChangeKind.CREATE_COMPLETIONS.value
    CREATE_SUBMISSIONS = MailboxChangeKind.CREATE_SUBMISSIONS.value
    DELETE_COMPLETIONS = MailboxChangeKind.DELETE_COMPLETIONS.value
    DELETE_SUBMISSIONS = MailboxChangeKind.DELETE_SUBMISSIONS.value


class QueueChange(data.StructLayout):
    """A queue that is made or deleted. Of a deleted one only `kind` and `queue` count.

    - base: address, a multiple of 4 KiB. size: entries - 1.
    - partner: the completion queue of a submission queue, the vector of a completion queue.
    - interrupts: of a completion queue: its entries fire the vector.
    - priority: `spec.pcie.Priority` of a submission queue.
    """

    def __init__(self):
        super().__init__({
            "kind": ChangeKind, "queue": QUEUE_BITS, "base": ADDRESS_BITS, "size": INDEX_BITS,
            "partner": QUEUE_BITS, "interrupts": 1, "priority": 2,
        })  # fmt: skip


class QueueEntry(data.StructLayout):
    """A submission entry from queue `queue`."""

    def __init__(self):
        super().__init__({"queue": QUEUE_BITS, "bytes": 8 * Submission.BYTES})


class IoCommand(data.StructLayout):
    """An I/O command from queue `queue`. `length`: bytes that its pieces have; 0: it has no pieces."""

    def __init__(self, most_bytes: int):
        super().__init__({
            "queue": QUEUE_BITS, "bytes": 8 * Submission.BYTES, "length": bits_for(most_bytes + 1),
        })  # fmt: skip


class QueueAnswer(data.StructLayout):
    """The answer to a command from submission queue `queue`: fields of `spec.Completion`."""

    def __init__(self):
        fields = Completion.result, Completion.cid, Completion.status, Completion.do_not_retry
        names = "result", "cid", "status", "do_not_retry"
        super().__init__({
            "queue": QUEUE_BITS,
            **{name: field.width for name, field in zip(names, fields, strict=True)},
        })  # fmt: skip


class DataPointer(data.StructLayout):
    """The PRPs of a command, or the two words of its SGL descriptor, and the bytes of data: at least 1."""

    def __init__(self, most_bytes: int):
        super().__init__({
            "first": ADDRESS_BITS, "second": ADDRESS_BITS, "length": bits_for(most_bytes + 1), "sgl": 1,
        })  # fmt: skip


class Piece(data.StructLayout):
    """Bytes of a command's data that lie side by side in the host's memory: at most a page, or a data block.

    `sgl`: a data block. `last`: of the command. `status` is SUCCESS, or that of a data pointer with a fault:
    such a command has this one piece, whose other fields have no meaning.
    """

    def __init__(self):
        super().__init__({
            "address": ADDRESS_BITS, "length": PIECE_BITS, "last": 1, "status": Completion.status.width,
            "sgl": 1,
        })  # fmt: skip


class AggregationSetting(data.StructLayout):
    """A value of `spec.pcie.MailboxAggregation`, or with `of_vector` of `MailboxVector`."""

    def __init__(self):
        super().__init__({"of_vector": 1, "value": MailboxVector.alone.low + 1})


class NamespaceSettings(data.StructLayout):
    """A namespace, as `spec.host_commands.HostNamespace`; `zones` 0: it is inactive."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "zones": config.geometry.zone_bits + 1, "appends": 1, "volatile": 1, "fails_on_unwritten": 1,
        })  # fmt: skip


class DeviceCommand(data.StructLayout):
    """A command for the controller: what its entry has besides constants.

    - slot: its CID, and the number of the place of its data.
    - block: the first block of the slot's data that it is for.
    - count: NLB, or the dwords of a report - 1. length: bytes of data, or 0.
    - options: the low bits of dword 13, by opcode.
    """

    def __init__(self, slots: int, most_bytes: int, block_bytes: int):
        super().__init__({
            "slot": bits_for(slots), "opcode": 8, "nsid": NSID_BITS, "slba": Submission.slba.width,
            "count": max(Submission.nlb.width, bits_for(most_bytes // 4)), "length": bits_for(most_bytes + 1),
            "options": OPTION_BITS, "block": bits_for(most_bytes // block_bytes),
        })  # fmt: skip


class BlockRun(data.StructLayout):
    """Blocks of the data of the command in `slot`: `more` besides the first one."""

    def __init__(self, slots: int, most_bytes: int, block_bytes: int):
        blocks = bits_for(most_bytes // block_bytes)
        super().__init__({"slot": bits_for(slots), "block": blocks, "more": blocks})


class DeviceAnswer(data.StructLayout):
    """The controller's answer to the command in `slot`.

    `unreachable`: the host's memory has refused data of it.
    """

    def __init__(self, slots: int):
        super().__init__({
            "slot": bits_for(slots), "status": STATUS_BITS, "result": Completion.result.width,
            "unreachable": 1,
        })  # fmt: skip


class Segment(data.StructLayout):
    """Bytes of a burst of the controller that lie side by side in the host's memory, within 128 bytes there.

    `length`: dwords. `last`: of the burst.
    """

    def __init__(self, slots: int):
        super().__init__({
            "address": ADDRESS_BITS, "length": LENGTH_BITS, "last": 1, "slot": bits_for(slots),
        })  # fmt: skip


class DataPlace(data.StructLayout):
    """A byte of a command's data, by its number."""

    def __init__(self, slots: int, most_bytes: int):
        super().__init__({"slot": bits_for(slots), "offset": bits_for(most_bytes)})


def bits_of(value, field: BitField):
    """A field of a word of `field`'s layout."""
    return value[field.low : field.low + field.width]
