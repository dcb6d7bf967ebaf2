"""Slices on their way out of a lane, in block memory."""

from amaranth import Module, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.memories import IN_BLOCKS
from flashtrain.spec.codec import SLICE_BYTES

QUEUED_SLICES = 64


class SliceFlags(data.StructLayout):
    """A slice is the last of its page, or not; and it is whole: one of ROUND16 becomes two of user data."""

    def __init__(self):
        super().__init__({"last": 1, "whole": 1})


class StoredSlice(data.StructLayout):
    """A stored slice; `rounded` selects among its data, and is the inverse of `flags.whole`."""

    def __init__(self):
        super().__init__({"data": 8 * SLICE_BYTES, "rounded": 1, "flags": SliceFlags()})


class SliceQueue(wiring.Component):
    """A queue whose writer reserves a word before it writes.

    A word goes from the memory through its output register. Both stand still while their words are not taken.
    Flags that decide about the next word are in look-up tables, since a block memory is late with its output.

    Latency: 3 cycles. Throughput: a slice per cycle.

    Members
    -------
    valid : In(1), slice : In(StoredSlice)   at most `QUEUED_SLICES` - 1 are in the queue
    frees : Out(1)               pulse: the word of a slice is free again
    output : Out(stream(StoredSlice))
    """

    def __init__(self):
        super().__init__({
            "valid": In(1),
            "slice": In(StoredSlice()),
            "frees": Out(1),
            "output": Out(stream.Signature(StoredSlice())),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        word = data.StructLayout({"data": 8 * SLICE_BYTES, "rounded": 1})
        m.submodules.slices = slices = memory.Memory(
            shape=word, depth=QUEUED_SLICES, init=[], attrs=IN_BLOCKS
        )
        m.submodules.flags = flags = memory.Memory(shape=SliceFlags(), depth=QUEUED_SLICES, init=[])
        write, read = slices.write_port(), slices.read_port()
        write_flags, read_flags = flags.write_port(), flags.read_port(domain="comb")
        produced, consumed = Signal(range(QUEUED_SLICES)), Signal(range(QUEUED_SLICES))
        here, result = Signal(), Signal(word, reset_less=True)  # a word at the memory's output
        flags_here, flags_out = Signal(SliceFlags()), Signal(SliceFlags())
        moves, takes, some = Signal(), Signal(), Signal()  # the word goes to the register; another one comes
        m.d.comb += [
            write.en.eq(self.valid),
            write.addr.eq(produced),
            write.data.data.eq(self.slice.data),
            write.data.rounded.eq(self.slice.rounded),
            write_flags.en.eq(self.valid),
            write_flags.addr.eq(produced),
            write_flags.data.eq(self.slice.flags),
            read.addr.eq(consumed),
            read_flags.addr.eq(consumed),
            some.eq(produced != consumed),
            moves.eq(~self.output.valid | self.output.ready),
            takes.eq(~here | moves),
            read.en.eq(takes),
            self.output.payload.data.eq(result.data),
            self.output.payload.rounded.eq(result.rounded),
            self.output.payload.flags.eq(flags_out),
        ]
        m.d.sync += self.frees.eq(takes & some)
        with m.If(self.valid):
            m.d.sync += produced.eq(produced + 1)
        with m.If(takes):
            m.d.sync += [here.eq(some), flags_here.eq(read_flags.data)]
            with m.If(some):
                m.d.sync += consumed.eq(consumed + 1)
        with m.If(moves):
            m.d.sync += [self.output.valid.eq(here), result.eq(read.data), flags_out.eq(flags_here)]
        return m
