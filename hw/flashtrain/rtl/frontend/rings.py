"""Queues that lie in a ring of memory, behind the queue AXI port."""

from amaranth import Mux

QUEUE_BYTES = 8  # width of the port


def after(index, size):
    """The entry that follows `index` in a queue of `size` + 1 entries."""
    return Mux(index == size, 0, index + 1)
