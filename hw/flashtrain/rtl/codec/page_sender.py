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


class BeatCheck(data.StructLayout):
    """Whether a beat is the last one of its page, and the checksum of the page up to it."""

    def __init__(self):
        super().__init__({"ends": 1, "checksum": CRC_BITS})


class PageSender(wiring.Component):
    """Offers whole pages, and outputs each page that was taken, its checksum in the last bytes.

    Beats wait in block memory until they leave; their checksums follow them. Lines are requested only if
    there is room for their beats, so nothing stalls on the way.

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
        m.submodules.checks = checks = memory.Memory(shape=BeatCheck(), depth=depth, init=[])
        write, read = stored.write_port(), stored.read_port()
        write_check, read_check = checks.write_port(), checks.read_port(domain="comb")
        arrived, summed, left_at = Signal(range(depth)), Signal(range(depth)), Signal(range(depth))
        m.d.comb += [write.addr.eq(arrived), write.data.eq(beat), write.en.eq(valid)]
        m.d.sync += arrived.eq(arrived + valid)
        for cycle in range(checksum.latency):
            before = valid, ends
            valid, ends = Signal(name=f"valid_{cycle}"), Signal(name=f"ends_{cycle}")
            m.d.sync += [valid.eq(before[0]), ends.eq(before[1])]
        m.d.comb += [
            write_check.addr.eq(summed),
            write_check.data.ends.eq(ends),
            write_check.data.checksum.eq(~checksum.remainder),
            write_check.en.eq(valid),
        ]
        m.d.sync += summed.eq(summed + valid)

        # A beat goes from the memory through its output register.
        here, check = Signal(), Signal(BeatCheck(), reset_less=True)  # a beat at the memory's output
        check_out = Signal(BeatCheck(), reset_less=True)
        result = Signal(port_bits, reset_less=True)
        moves, takes, some = Signal(), Signal(), Signal()  # the beat goes to the register; another one comes
        m.d.comb += [
            some.eq(summed != left_at),
            moves.eq(~self.output.valid | self.output.ready),
            takes.eq(~here | moves),
            read.addr.eq(left_at),
            read.en.eq(takes),
            read_check.addr.eq(left_at),
            self.output.payload.eq(
                Cat(result[:-CRC_BITS], Mux(check_out.ends, check_out.checksum, result[-CRC_BITS:]))
            ),
        ]
        m.d.sync += leaves.eq(takes & some)
        with m.If(takes):
            m.d.sync += [here.eq(some), check.eq(read_check.data)]
            with m.If(some):
                m.d.sync += left_at.eq(left_at + 1)
        with m.If(moves):
            m.d.sync += [self.output.valid.eq(here), result.eq(read.data), check_out.eq(check)]
        return m
