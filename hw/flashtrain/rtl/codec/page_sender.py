"""Pages to beats of the port, with their checksums."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.memories import IN_BLOCKS
from flashtrain.spec.geometry import bits_for

from .checksum import CRC_BITS, PageChecksum
from .layouts import EncoderShape
from .page_buffers import LINE_CYCLES

_QUEUED_BEATS = 16
"""As many as are under way from a request for a line to the output, and some."""


class PageSender(wiring.Component):
    """Offers whole pages, and outputs each page that was taken, its checksum in the last bytes.

    Beats wait in block memory until they leave; the checksums of their pages follow them. Lines are requested
    only if there is room for their beats, so nothing stalls on the way.

    Latency: some 14 cycles from `page` to its first beat. Throughput: a beat per cycle, page after page.

    Members
    -------
    whole, last : In(1), take : Out(1)   of `PageBuffers`
    read, release : Out(1), line : Out, line_data : In(line)
    page : Out(stream(last))
    output : Out(stream(beats))
    """

    def __init__(self, shape: EncoderShape):
        self.shape = shape.page
        self.port_bytes = shape.port_bytes
        super().__init__({
            "whole": In(1),
            "last": In(1),
            "take": Out(1),
            "read": Out(1),
            "line": Out(self.shape.line_bits),
            "release": Out(1),
            "line_data": In(8 * self.shape.line_bytes),
            "page": Out(stream.Signature(data.StructLayout({"last": 1}))),
            "output": Out(stream.Signature(8 * shape.port_bytes)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        beats, port_bits = self.shape.line_bytes // self.port_bytes, 8 * self.port_bytes
        m.submodules.checksum = checksum = PageChecksum(port_bits)
        depth = 1 << bits_for(_QUEUED_BEATS + 3 * beats)

        # Pages that were taken, and requests for their lines.
        taken, active = Signal(), Signal()
        pause = Signal(range(beats))  # cycles until the next line may follow
        reserved = Signal(range(depth + 1))  # beats that wait, or are under way
        room, last_line, leaves = Signal(), Signal(), Signal()  # room: for the beats of a line
        m.d.comb += [
            self.page.valid.eq(self.whole & ~taken),
            self.page.payload.last.eq(self.last),
            self.take.eq(self.page.valid & self.page.ready),
            self.read.eq(active & (pause == 0) & room),
            self.release.eq(self.read & last_line),
        ]
        m.d.sync += [
            reserved.eq(reserved + Mux(self.read, beats, 0) - leaves),
            # Known a cycle late: a line may have been requested meanwhile.
            room.eq(reserved <= depth - 2 * beats),
        ]
        with m.If(pause != 0):
            m.d.sync += pause.eq(pause - 1)
        with m.If(self.take):
            m.d.sync += taken.eq(1)
        with m.If(self.read):
            m.d.sync += [
                pause.eq(beats - 1),
                self.line.eq(self.line + 1),
                last_line.eq(self.line == self.shape.lines - 2),
            ]
        with m.If(~active | self.release):
            m.d.sync += [active.eq(taken), self.line.eq(0), last_line.eq(0)]
            with m.If(taken):
                m.d.sync += taken.eq(0)

        # A line to its beats.
        arrives, first, last = self.read, self.line == 0, last_line
        for cycle in range(LINE_CYCLES):
            before = arrives, first, last
            arrives, first, last = (Signal(name=f"{name}_{cycle}") for name in ("arrives", "first", "last"))
            m.d.sync += [now.eq(then) for now, then in zip((arrives, first, last), before, strict=True)]
        rest = Signal(8 * self.shape.line_bytes - port_bits, reset_less=True)
        left, last_held = Signal(range(beats)), Signal()
        beat, valid, ends = Signal(port_bits), Signal(), Signal()
        m.d.comb += [
            valid.eq(arrives | (left != 0)),
            # A line of one beat is that beat, whether it is valid or not.
            beat.eq(Mux(arrives | (beats == 1), self.line_data[:port_bits], rest[:port_bits])),
            ends.eq(Mux(arrives, last & (beats == 1), last_held & (left == 1))),
            checksum.valid.eq(valid),
            checksum.first.eq(arrives & first),
            checksum.beat.eq(beat),
        ]
        with m.If(arrives):
            m.d.sync += [rest.eq(self.line_data[port_bits:]), left.eq(beats - 1), last_held.eq(last)]
        with m.Elif(left != 0):
            m.d.sync += [rest.eq(rest[port_bits:]), left.eq(left - 1)]

        # Beats wait. One may leave when its checksum is known.
        m.submodules.beats = stored = memory.Memory(shape=port_bits, depth=depth, init=[], attrs=IN_BLOCKS)
        m.submodules.lasts = lasts = memory.Memory(shape=1, depth=depth, init=[])  # beats of their pages
        pages = 1 << bits_for(depth // (self.shape.lines * beats) + 2)  # at most, which end in `depth` beats
        m.submodules.sums = sums = memory.Memory(shape=CRC_BITS, depth=pages, init=[])
        write, read = stored.write_port(), stored.read_port()
        write_last, read_last = lasts.write_port(), lasts.read_port(domain="comb")
        write_sum, read_sum = sums.write_port(), sums.read_port(domain="comb")
        summed_page, left_page = Signal(range(pages)), Signal(range(pages))
        arrived, summed, left_at = Signal(range(depth)), Signal(range(depth)), Signal(range(depth))
        m.d.comb += [write.addr.eq(arrived), write.data.eq(beat), write.en.eq(valid)]
        m.d.sync += arrived.eq(arrived + valid)
        for cycle in range(checksum.latency):
            before = valid, ends
            valid, ends = Signal(name=f"valid_{cycle}"), Signal(name=f"ends_{cycle}")
            m.d.sync += [valid.eq(before[0]), ends.eq(before[1])]
        m.d.comb += [
            write_last.addr.eq(summed),
            write_last.data.eq(ends),
            write_last.en.eq(valid),
            write_sum.addr.eq(summed_page),
            write_sum.data.eq(~checksum.remainder),
            write_sum.en.eq(valid & ends),
        ]
        m.d.sync += [summed.eq(summed + valid), summed_page.eq(summed_page + (valid & ends))]

        # A beat goes from the memory through its output register.
        here, last_here, last_out = Signal(), Signal(), Signal()  # a beat at the memory's output; the last
        result, sum_out = Signal(port_bits, reset_less=True), Signal(CRC_BITS, reset_less=True)
        moves, takes, some = Signal(), Signal(), Signal()  # the beat goes to the register; another one comes
        m.d.comb += [
            some.eq(summed != left_at),
            moves.eq(~self.output.valid | self.output.ready),
            takes.eq(~here | moves),
            read.addr.eq(left_at),
            read.en.eq(takes),
            read_last.addr.eq(left_at),
            read_sum.addr.eq(left_page),
            self.output.payload.eq(Cat(result[:-CRC_BITS], Mux(last_out, sum_out, result[-CRC_BITS:]))),
        ]
        m.d.sync += leaves.eq(takes & some)
        with m.If(takes):
            m.d.sync += [here.eq(some), last_here.eq(read_last.data)]
            with m.If(some):
                m.d.sync += left_at.eq(left_at + 1)
        with m.If(moves):
            m.d.sync += [
                self.output.valid.eq(here), result.eq(read.data), last_out.eq(last_here),
                sum_out.eq(read_sum.data), left_page.eq(left_page + (here & last_here)),
            ]  # fmt: skip
        return m
