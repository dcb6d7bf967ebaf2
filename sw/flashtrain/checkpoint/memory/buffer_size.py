"""The size of a Link's memory whose tensor buffer has room for certain bytes."""

from flashtrain.host.opening import DEFAULT_QUEUE_ENTRIES
from flashtrain.host.queues.queue_pair import QueuePair
from flashtrain.spec import FmsConfig, Port

MAPPING_BYTES = 4096
"""A Link's memory is a multiple of it."""


def memory_bytes_for(config: FmsConfig, held_bytes: int, queue_entries: int = DEFAULT_QUEUE_ENTRIES) -> int:
    """The least memory for the queues and `held_bytes` of regions; what is left over is less than 4 KiB."""
    page = config.geometry.page_bytes
    queues = -(-len(Port) * QueuePair.size_bytes(queue_entries) // page) * page
    blocks = -(-held_bytes // page)
    unit = max(page, MAPPING_BYTES)
    return -(-(queues + blocks * page) // unit) * unit
