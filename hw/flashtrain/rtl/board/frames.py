"""Frames between flags, with escapes and a CRC-32 (`flashtrain.spec.serial`)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.crc.catalog import CRC32_ISO_HDLC
from amaranth.lib.wiring import In, Out

from flashtrain.spec.serial import CHECK_BYTES, ESCAPE, FLAG, FLIP

CONTENT = data.StructLayout({"data": 8, "last": 1})
"""A byte of a frame's content; `last`: its end."""


class FrameReceiver(wiring.Component):
    """Content of frames from the bytes of a line.

    A frame that is cut ends with the next flag, and is damaged then, as is one that ends in an escape.

    Latency: 1 cycle. Throughput: a byte per cycle.

    Members
    -------
    input : In(stream)    bytes of the line, never refused
    output : Out(stream)  content with the CRC, not to be refused
    end : Out(1)          pulse: a flag; the bytes since the flag before it are a frame if there are any
    whole : Out(1)        with `end`: the CRC is right
    """

    def __init__(self):
        super().__init__({
            "input": In(stream.Signature(8, always_ready=True)),
            "output": Out(stream.Signature(8, always_ready=True)),
            "end": Out(1),
            "whole": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.check = check = CRC32_ISO_HDLC(data_width=8).create()
        escaped = Signal()
        byte, new = self.input.payload, self.input.valid
        is_flag, is_escape = byte == FLAG, byte == ESCAPE
        m.d.sync += [self.output.valid.eq(0), self.end.eq(0)]
        m.d.comb += [  # pyright: ignore[reportOperatorIssue]
            check.start.eq(new & is_flag),
            check.valid.eq(new & ~is_flag & ~is_escape),
            check.data.eq(byte ^ Mux(escaped, FLIP, 0)),
        ]
        with m.If(new):
            m.d.sync += [
                escaped.eq(is_escape),
                self.output.valid.eq(check.valid),
                self.output.payload.eq(check.data),
                self.end.eq(is_flag),
                self.whole.eq(check.match_detected & ~escaped),
            ]
        return m


class FrameSender(wiring.Component):
    """Frames of the given content, for a line.

    Latency: 1 byte of the line, the flag. Throughput: a byte of the line per cycle.

    Members
    -------
    input : In(stream)    `CONTENT`
    output : Out(stream)  bytes of the line
    """

    def __init__(self):
        super().__init__({
            "input": In(stream.Signature(CONTENT)),
            "output": Out(stream.Signature(8)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.check = check = CRC32_ISO_HDLC(data_width=8).create()
        item, line = self.input.payload, self.output
        byte, escaped = Signal(8), Signal()
        number = Signal(range(CHECK_BYTES))
        special, passes = Signal(), Signal()
        m.d.comb += [
            special.eq((byte == FLAG) | (byte == ESCAPE)),
            passes.eq(line.valid & line.ready & (~special | escaped)),
            check.data.eq(item.data),
        ]
        with m.FSM(name="sender_state"):
            with m.State("BEGIN"):
                m.d.comb += [line.valid.eq(self.input.valid), line.payload.eq(FLAG), check.start.eq(1)]
                with m.If(self.input.valid & line.ready):
                    m.next = "CONTENT"
            with m.State("CONTENT"):
                m.d.comb += [
                    byte.eq(item.data),
                    line.valid.eq(self.input.valid),
                    self.input.ready.eq(passes),
                    check.valid.eq(passes),
                ]
                self._escape(m, byte, special, escaped)
                with m.If(passes & item.last):
                    m.next = "CHECK"
            with m.State("CHECK"):
                part = check.crc.word_select(number, 8)
                m.d.comb += [byte.eq(part), line.valid.eq(1)]  # pyright: ignore[reportArgumentType]
                self._escape(m, byte, special, escaped)
                with m.If(passes):
                    m.d.sync += number.eq(number + 1)
                    with m.If(number == CHECK_BYTES - 1):
                        m.next = "END"
            with m.State("END"):
                m.d.comb += [line.valid.eq(1), line.payload.eq(FLAG)]
                with m.If(line.ready):
                    m.next = "BEGIN"
        return m

    def _escape(self, m: Module, byte, special, escaped) -> None:
        """Send the byte, or an escape first."""
        line = self.output
        with m.If(special & ~escaped):
            m.d.comb += line.payload.eq(ESCAPE)
        with m.Else():
            m.d.comb += line.payload.eq(byte ^ Mux(escaped, FLIP, 0))
        with m.If(line.valid & line.ready):
            m.d.sync += escaped.eq(special & ~escaped)
