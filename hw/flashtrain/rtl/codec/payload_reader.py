"""Runs of payload for slices, from rows that are fetched ahead of them."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.codec import SLICE_BYTES
from flashtrain.spec.geometry import bits_for

from .byte_network import PLACE_BITS, delayed
from .layouts import PageShape
from .line_memory import BUFFERS, HALF_BYTES, HALF_CYCLES, half_bits

RUN_CYCLES = 3
"""From the place of a slice's payload to its run."""

_KEPT_BITS = 3
_AHEAD = (1 << _KEPT_BITS) - 1
"""Half lines that are kept, that of the present slice among them."""


class PayloadReader(wiring.Component):
    """Keeps the next half lines of payload of both buffers, and cuts the runs of slices from them.

    Payload goes down from the end of a page. A slice takes the row of its first byte and the row below. One
    of them is the lower row of its half line, one the upper. The first half lines are fetched from `begins`
    on, others as slices advance. Each buffer has a half line every other cycle (`LineMemory`); slices need
    no more. So the n-th slice of a page, from 0, may come n + 8 cycles after `begins`, or later.

    Latency: `RUN_CYCLES`. Throughput: a run per cycle. Cost: 16 words of 512 bits, a multiplexer of two.

    Members
    -------
    begins : In(1), begins_buffer : In   a page begins to be read
    requests : Out(2), halves : Out(2 numbers of half lines), taken : In(2)   of `LineMemory`
    half : In(512)        `HALF_CYCLES` after `taken`
    valid : In(1), start : In, buffer : In   a slice's first byte
    run : Out(256)        lane by lane the byte with this place in a row, of those at `start` and below
    """

    def __init__(self, page_bytes: int):
        self.shape = PageShape(page_bytes)
        bits = half_bits(self.shape)
        super().__init__({
            "begins": In(1),
            "begins_buffer": In(bits_for(BUFFERS)),
            "requests": Out(BUFFERS),
            "halves": Out(bits).array(BUFFERS),
            "taken": In(BUFFERS),
            "half": In(8 * HALF_BYTES),
            "valid": In(1),
            "start": In(self.shape.offset_bits),
            "buffer": In(bits_for(BUFFERS)),
            "run": Out(8 * SLICE_BYTES),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        last = 2 * self.shape.lines - 1
        row_of_half, half_of_slice = self.start[PLACE_BITS], self.start[PLACE_BITS + 1 :]

        # What is fetched, per buffer: `_AHEAD` half lines from that of the present slice on.
        for number in range(BUFFERS):
            active, present = Signal(name=f"active_{number}"), Signal(_KEPT_BITS, name=f"present_{number}")
            following = Signal(half_bits(self.shape), name=f"following_{number}")  # to be fetched
            begins = self.begins & (self.begins_buffer == number)
            with m.If(begins):
                m.d.sync += [active.eq(1), present.eq(last), following.eq(last)]
            with m.Else():
                with m.If(self.valid & (self.buffer == number)):
                    m.d.sync += present.eq(half_of_slice)
                with m.If(self.taken[number]):
                    m.d.sync += following.eq(following - 1)
            m.d.comb += self.halves[number].eq(following)
            kept = (present - following)[:_KEPT_BITS]
            m.d.sync += self.requests[number].eq(active & (kept != _AHEAD) & ~begins)

        # The rows that were fetched: lower ones and upper ones of half lines.
        fetched = Cat(Mux(self.taken[1], self.halves[1], self.halves[0])[:_KEPT_BITS], self.taken[1])
        at = delayed(m, fetched, HALF_CYCLES, "at")
        arrives = self.taken.any()
        for cycle in range(HALF_CYCLES):
            before, arrives = arrives, Signal(name=f"arrives_{cycle}")
            m.d.sync += arrives.eq(before)
        addresses = (half_of_slice[:_KEPT_BITS], (half_of_slice - ~row_of_half)[:_KEPT_BITS])
        rows = []
        for name, wanted, content in zip(
            ("lower", "upper"), addresses, (self.half[: 8 * SLICE_BYTES], self.half[8 * SLICE_BYTES :]),
            strict=True,
        ):  # fmt: skip
            m.submodules[name] = store = memory.Memory(
                shape=8 * SLICE_BYTES, depth=BUFFERS << _KEPT_BITS, init=[]
            )
            write, read = store.write_port(), store.read_port(domain="comb")
            address = Signal(_KEPT_BITS + 1, name=f"{name}_at", reset_less=True)
            row = Signal(8 * SLICE_BYTES, name=f"{name}_row", reset_less=True)
            m.d.sync += [address.eq(Cat(wanted, self.buffer)), row.eq(read.data)]
            m.d.comb += [
                write.en.eq(arrives), write.addr.eq(at), write.data.eq(content), read.addr.eq(address)
            ]  # fmt: skip
            rows.append(row)

        # Each lane from its row: that of the first byte up to it, the one below behind it.
        below, in_upper = Signal(SLICE_BYTES, reset_less=True), Signal(reset_less=True)
        from_upper, run = Signal(SLICE_BYTES, reset_less=True), Signal(8 * SLICE_BYTES, reset_less=True)
        m.d.sync += [
            below.eq(Cat(self.start[:PLACE_BITS] < lane for lane in range(SLICE_BYTES))),
            in_upper.eq(row_of_half),
            from_upper.eq(below ^ in_upper.replicate(SLICE_BYTES)),
        ]
        for lane in range(SLICE_BYTES):
            lower, upper = (row.word_select(lane, 8) for row in rows)
            m.d.sync += run.word_select(lane, 8).eq(Mux(from_upper[lane], upper, lower))
        m.d.comb += self.run.eq(run)
        return m
