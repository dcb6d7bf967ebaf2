"""Groups of slices at work in the encoder, which takes some of them more than once."""

from amaranth import Cat, Module, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.memories import IN_BLOCKS

GROUP_CYCLES = 3
"""From a pointer to its group, out of block memories through their output registers and one on the way."""
READ_CYCLES = 5
"""From a part until its group is there."""
AHEAD = 2
"""Cycles after `room` in which a group may arrive: those from a beat to its group."""

_MARKED_BYTES = 8
"""Bytes that share a mark: as many marks as fit the spare bits of the block memories of an ECP5."""
MARKED_LANES = _MARKED_BYTES // 2


class Marked(data.ArrayLayout):
    """A group whose format stands beside its bytes: one register for all of them would be far from most."""

    def __init__(self, group_bytes: int):
        super().__init__(
            data.StructLayout({"octets": 8 * _MARKED_BYTES, "wide": 1}), group_bytes // _MARKED_BYTES
        )


def marked(group: Value, wide: Value) -> Value:
    """`Marked` of a group of FP32 (`wide`) or BF16."""
    bits = 8 * _MARKED_BYTES
    return Cat(Cat(group[at : at + bits], wide) for at in range(0, len(group), bits))


class GroupRing(wiring.Component):
    """Holds groups until their page is settled, and offers them in order; again on request.

    A group passes a register on its way into the memories, and two out of them. Groups on their way to the
    ring always find room, so nothing waits there.

    Latency: 2 cycles from `group` to `next_valid`, then `GROUP_CYCLES` to the group.
    Throughput: a group per cycle. Cost: two block memories of the width of a group.

    Members
    -------
    room : Out(1)               a group may arrive in this cycle and in each of the next `AHEAD`
    valid : In(1), group : In(Marked)   a group arrives
    last : In(1)                it is the last of its append
    restart : In(1)             the next group offered is `restart_at`, which has arrived or will
    restart_at : In             a pointer
    next_valid : Out(1)         a group is offered in this cycle; none behind the last of an append
    next_at : Out               its pointer
    next_last : Out(1)
    next_group : Out(Marked)    `GROUP_CYCLES` later
    read_at : In                any group
    read_group : Out(Marked)    `GROUP_CYCLES` later
    retired : In                groups before this one are not needed any more
    """

    def __init__(self, group: ShapeLike, index_bits: int):
        self.group_shape = group
        self.index_bits = index_bits
        super().__init__({
            "room": Out(1),
            "valid": In(1),
            "group": In(group),
            "last": In(1),
            "restart": In(1),
            "restart_at": In(index_bits + 1),
            "next_valid": Out(1),
            "next_at": Out(index_bits + 1),
            "next_group": Out(group),
            "next_last": Out(1),
            "read_at": In(index_bits),
            "read_group": Out(group),
            "retired": In(index_bits + 1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        size = 1 << self.index_bits
        m.submodules.lasts = lasts = memory.Memory(shape=1, depth=size, init=[])
        write_last, offered_last = lasts.write_port(), lasts.read_port(domain="comb")
        pointer = self.index_bits + 1
        taken, arrived, at = Signal(pointer), Signal(pointer), Signal(pointer)
        level = Signal(pointer)  # groups that are here, those retired in this cycle included
        ended, enters = Signal(init=1), Signal()
        entering = Signal(self.group_shape, reset_less=True)
        m.d.comb += [
            write_last.addr.eq(taken),
            write_last.data.eq(self.last),
            write_last.en.eq(self.valid),
            offered_last.addr.eq(at),
            self.next_valid.eq(~ended & (at != arrived)),
            self.next_at.eq(at),
            self.next_last.eq(offered_last.data),
        ]
        m.d.sync += [
            taken.eq(taken + self.valid), arrived.eq(taken), enters.eq(self.valid), entering.eq(self.group),
            level.eq(taken + self.valid - self.retired),
            # Known a cycle late: a group may have been taken meanwhile.
            self.room.eq(level < size - 1 - AHEAD),
        ]  # fmt: skip
        # A block memory has one port to read, so each reader has a copy.
        for name, address, output in (
            ("offered", at, self.next_group), ("stored", self.read_at, self.read_group)
        ):  # fmt: skip
            m.submodules[name] = copy = memory.Memory(
                shape=self.group_shape, depth=size, init=[], attrs=IN_BLOCKS
            )
            write, read = copy.write_port(), copy.read_port()
            group, near = (
                Signal(self.group_shape, name=f"{name}_{where}", reset_less=True)
                for where in ("group", "near")
            )
            m.d.comb += [
                write.addr.eq(arrived), write.data.eq(entering), write.en.eq(enters), read.addr.eq(address),
                output.eq(group),
            ]  # fmt: skip
            m.d.sync += [near.eq(read.data), group.eq(near)]
        with m.If(self.restart):
            m.d.sync += [at.eq(self.restart_at), ended.eq(0)]
        with m.Elif(self.next_valid):
            m.d.sync += [at.eq(at + 1), ended.eq(self.next_last)]
        return m
