"""Groups of slices at work in the encoder, which takes some of them more than once."""

from amaranth import Module, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from .layouts import GROUP_BYTES

INDEX_BITS = 5
"""Of a group in the ring. Pointers have a bit more."""
RING_GROUPS = 1 << INDEX_BITS
READ_CYCLES = 5
"""From a part until its group is read."""


class GroupRing(wiring.Component):
    """Holds groups until their page is settled, and offers them in order; again on request.

    Latency: 1 cycle from `group` to `next_valid`. Throughput: a group per cycle.
    Cost: two memories of 32 groups in look-up tables.

    Members
    -------
    group : In(stream(1024))
    last : In(1)                the group is the last of its append
    restart : In(1)             the next group offered is `restart_at`, which has arrived or will
    restart_at : In(6)          a pointer
    next_valid : Out(1)         a group is offered in this cycle; none behind the last of an append
    next_at : Out(6)            its pointer
    next_group : Out(1024), next_last : Out(1)
    read_at : In(5), read_group : Out(1024)   any group, in the same cycle
    retired : In(6)             groups before this one are not needed any more
    """

    def __init__(self, bits: int = 8 * GROUP_BYTES, index_bits: int = INDEX_BITS):
        self.bits = bits
        self.index_bits = index_bits
        super().__init__({
            "group": In(stream.Signature(bits)),
            "last": In(1),
            "restart": In(1),
            "restart_at": In(index_bits + 1),
            "next_valid": Out(1),
            "next_at": Out(index_bits + 1),
            "next_group": Out(bits),
            "next_last": Out(1),
            "read_at": In(index_bits),
            "read_group": Out(bits),
            "retired": In(index_bits + 1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        size = 1 << self.index_bits
        m.submodules.groups = groups = memory.Memory(shape=self.bits, depth=size, init=[])
        m.submodules.lasts = lasts = memory.Memory(shape=1, depth=size, init=[])
        write, write_last = groups.write_port(), lasts.write_port()
        offered, offered_last = groups.read_port(domain="comb"), lasts.read_port(domain="comb")
        read = groups.read_port(domain="comb")
        arrived, at = Signal(self.index_bits + 1), Signal(self.index_bits + 1)
        level = Signal(self.index_bits + 1)  # groups that are here, those retired in this cycle included
        ended = Signal(init=1)
        takes = Signal()
        m.d.comb += [
            self.group.ready.eq(level < size),
            takes.eq(self.group.valid & self.group.ready),
            write.addr.eq(arrived),
            write.data.eq(self.group.payload),
            write.en.eq(takes),
            write_last.addr.eq(arrived),
            write_last.data.eq(self.last),
            write_last.en.eq(takes),
            offered.addr.eq(at),
            offered_last.addr.eq(at),
            self.next_valid.eq(~ended & (at != arrived)),
            self.next_at.eq(at),
            self.next_group.eq(offered.data),
            self.next_last.eq(offered_last.data),
            read.addr.eq(self.read_at),
            self.read_group.eq(read.data),
        ]
        m.d.sync += [arrived.eq(arrived + takes), level.eq(arrived + takes - self.retired)]
        with m.If(self.restart):
            m.d.sync += [at.eq(self.restart_at), ended.eq(0)]
        with m.Elif(self.next_valid):
            m.d.sync += [at.eq(at + 1), ended.eq(self.next_last)]
        return m
