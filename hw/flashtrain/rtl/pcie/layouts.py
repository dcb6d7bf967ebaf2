"""Structs of the function on PCI Express."""

from amaranth.lib import data

from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import BAR_BYTES, DOORBELL_BYTES, DOORBELLS, MAX_ADMIN_ENTRIES, VECTORS

ADDRESS_BITS = 64
"""Of the host's memory."""
DWORD_BITS = 32
OFFSET_BITS = bits_for(BAR_BYTES // 4)
"""Of a dword in the BAR."""
DOORBELL_BITS = bits_for((VECTORS - DOORBELLS) // DOORBELL_BYTES)
INDEX_BITS = bits_for(MAX_ADMIN_ENTRIES)
"""Of an entry in a queue."""
PAGE_EXPONENT_BITS = 3
"""Pages of 4 KiB times a power of two."""


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
