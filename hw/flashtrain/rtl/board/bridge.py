"""The serial bridge: frames of a host to accesses of registers and of the tensor buffer."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.lib.axi import Axi4LiteSignature
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.registers import ADDRESS_BITS
from flashtrain.spec.serial import (
    ANSWER_HEADER,
    CHANGES_BYTES,
    CHECK_BYTES,
    CYCLE_BITS,
    GRAIN_BYTES,
    MAGIC,
    MOST_DATA,
    OPEN_DATA,
    REQUEST_HEADER,
    VERSION,
    WORD_BYTES,
    Operation,
    Status,
)

from .buffer_memory import WordPort
from .frames import FrameReceiver, FrameSender
from .uart import UartReceiver, UartTransmitter

_REQUEST = data.StructLayout({"operation": 8, "sequence": 8, "words": 16, "address": 32})
_ANSWER = data.StructLayout({"operation": 8, "sequence": 8, "status": 8, "flags": 8, "cycles": CYCLE_BITS})
_DATA_WORDS = MOST_DATA // WORD_BYTES
_WORD_BITS = bits_for(WORD_BYTES)


class SerialBridge(wiring.Component):
    """Performs one request at a time, and answers it (`flashtrain.spec.serial`).

    Nothing is performed before the CRC of its whole frame is right. While a request is performed and answered
    the bytes of the line are dropped, up to the next flag.

    The data of a request and those of the last answer have memories of their own. So a request that comes
    again has the same answer, whatever came between.

    Latency: 7 cycles and the access, from the middle of a request's last stop bit to the first start bit of
    the answer. Accesses: a register as `RegisterBus`; n words of LOAD 4 n, of STORE 2 n - 1, of FILL n; a
    word of CHANGES 257.

    Parameters
    ----------
    `divisor` : cycles of a bit on the line
    `buffer_bytes` : of the tensor buffer
    `clock_hz` : for the answer to OPEN

    Members
    -------
    line_in, line_out : In(1), Out(1)   high at rest
    registers : Out(Axi4LiteSignature)
    buffer : Out(WordPort)
    irq : In(1)
    changed, forget : In(1), Out(1)     see `BufferMemory`
    """

    def __init__(self, *, divisor: int, buffer_bytes: int, clock_hz: int):
        self.divisor = divisor
        self.buffer_bytes = buffer_bytes
        self.clock_hz = clock_hz
        super().__init__({
            "line_in": In(1, init=1),  # pyright: ignore[reportCallIssue]
            "line_out": Out(1, init=1),  # pyright: ignore[reportCallIssue]
            "registers": Out(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "buffer": Out(WordPort(buffer_bytes // WORD_BYTES)),
            "irq": In(1),
            "changed": In(1),
            "forget": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.uart_in = uart_in = UartReceiver(self.divisor)
        m.submodules.frames_in = frames_in = FrameReceiver()
        m.submodules.uart_out = uart_out = UartTransmitter(self.divisor)
        m.submodules.frames_out = frames_out = FrameSender()
        connect(m, uart_in.output, frames_in.input)
        connect(m, frames_out.output, uart_out.input)
        m.d.comb += [uart_in.line.eq(self.line_in), self.line_out.eq(uart_out.line)]

        cycles = Signal(CYCLE_BITS)
        m.d.sync += cycles.eq(cycles + 1)
        m.submodules.asked = asked = Memory(shape=64, depth=_DATA_WORDS, init=[])
        m.submodules.answered = answered = Memory(shape=64, depth=_DATA_WORDS, init=[])
        idle, whole, request, count = self._receive(m, frames_in, asked)
        self._perform(m, frames_out, idle, whole, request, count, cycles, asked, answered)
        return m

    def _receive(self, m: Module, frames, asked: Memory):
        """Header and number of bytes of the frame that comes in, whose data are put into `asked`."""
        idle, open_ = Signal(), Signal()
        most = REQUEST_HEADER + MOST_DATA + CHECK_BYTES
        count = Signal(range(most + 2))
        request, word = Signal(_REQUEST), Signal(64)
        write = asked.write_port()
        in_header = count < REQUEST_HEADER
        ends_word = count[:_WORD_BITS] == WORD_BYTES - 1
        number = (count >> _WORD_BITS) - 1
        byte = frames.output
        m.d.comb += [
            write.addr.eq(number),
            write.data.eq(Cat(word[8:], byte.payload)),
            write.en.eq(byte.valid & open_ & idle & ~in_header & ends_word & (number < _DATA_WORDS)),
        ]
        with m.If(byte.valid & ~idle):
            m.d.sync += open_.eq(0)
        with m.If(byte.valid & open_ & idle):
            with m.If(count != most + 1):
                m.d.sync += count.eq(count + 1)
            with m.If(in_header):
                m.d.sync += request.eq(Cat(request.as_value()[8:], byte.payload))
            with m.Else():
                m.d.sync += word.eq(Cat(word[8:], byte.payload))
        with m.If(frames.end):
            m.d.sync += [count.eq(0), open_.eq(idle)]
        whole = Signal()
        m.d.comb += whole.eq(frames.end & frames.whole & open_ & idle)
        return idle, whole, request, count

    def _perform(self, m, frames_out, idle, whole, request, count, cycles, asked, answered) -> None:
        registers, buffer = self.registers, self.buffer
        operation, status = request.operation, Signal(Status)
        before = Signal(data.StructLayout({"known": 1, "operation": 8, "sequence": 8}))
        given, put = asked.read_port(), answered.write_port()
        word = Signal(range(_DATA_WORDS + 1))  # that is performed, of the frame
        place = Signal(range(self.buffer_bytes // WORD_BYTES))  # of it in the tensor buffer
        left = Signal.like(request.words)
        grain = Signal(range(64))
        answer_bytes = Signal(range(MOST_DATA + 1))
        begins = Signal()  # CHANGES from address 0
        m.d.comb += [
            given.addr.eq(word),
            put.addr.eq(word),
            registers.awaddr.eq(request.address),
            registers.araddr.eq(request.address),
            registers.wdata.eq(given.data),
            registers.wstrb.eq(0b1111),
            buffer.request.payload.word.eq(place),
            buffer.request.payload.strobe.eq(0xFF),
            buffer.request.payload.data.eq(given.data),
        ]
        bytes_ = Signal.like(count)

        def one_done(then: str) -> None:
            """Go on with the next word, or answer."""
            m.d.sync += [place.eq(place + 1), left.eq(left - 1)]
            m.next = then
            with m.If(left == 0):
                m.next = "ANSWER"

        with m.FSM(name="bridge_state"):
            with m.State("IDLE"):
                m.d.comb += idle.eq(1)
                m.d.sync += [word.eq(0), bytes_.eq(count)]
                with m.If(whole & (count >= REQUEST_HEADER + CHECK_BYTES)):
                    m.next = "CHECK"
            with m.State("CHECK"):
                m.d.sync += [
                    place.eq(request.address >> _WORD_BITS),
                    left.eq(request.words - 1),
                    grain.eq(0),
                    before.eq(Cat(Const(1, 1), operation, request.sequence)),
                ]
                fits = self._fits(request)
                small = request.words <= _DATA_WORDS
                with m.If(
                    before.known
                    & (before.operation == operation)
                    & (before.sequence == request.sequence)
                    & (operation != Operation.OPEN)
                ):
                    m.next = "ANSWER"
                with m.Else():
                    m.d.sync += [status.eq(Status.BAD), answer_bytes.eq(0)]
                    m.next = "ANSWER"
                    for kind, size, valid in (
                        (Operation.OPEN, 0, (request.words == 0) & (request.address == 0)),
                        (Operation.READ, 0, self._names_register(request)),
                        (Operation.WRITE, 4, self._names_register(request)),
                        (Operation.LOAD, 0, fits & small),
                        (Operation.STORE, request.words << _WORD_BITS, fits & small),
                        (Operation.FILL, WORD_BYTES, fits),
                        (Operation.CHANGES, 0, fits & self._names_grains(request)),
                    ):
                        right_size = bytes_ == REQUEST_HEADER + CHECK_BYTES + size
                        with m.If((operation == kind) & right_size & valid):
                            m.d.sync += status.eq(Status.DONE)
                            m.next = kind.name
                            if kind is Operation.CHANGES:
                                m.d.comb += begins.eq(request.address == 0)
            with m.State("OPEN"):
                m.d.comb += put.en.eq(1)
                parts = (Cat(Const(MAGIC, 32), Const(VERSION, 32)),
                         Cat(Const(self.buffer_bytes, 32), Const(self.clock_hz, 32)))  # fmt: skip
                m.d.comb += put.data.eq(Mux(word[0], parts[1], parts[0]))
                m.d.sync += [word.eq(word + 1), answer_bytes.eq(OPEN_DATA), before.known.eq(0)]
                with m.If(word[0]):
                    m.next = "ANSWER"
            with m.State("READ"):
                m.d.comb += registers.arvalid.eq(1)
                with m.If(registers.arready):
                    m.next = "READ_DATA"
            with m.State("READ_DATA"):
                m.d.comb += [
                    registers.rready.eq(1),
                    put.data.eq(registers.rdata),
                    put.en.eq(registers.rvalid),
                ]
                with m.If(registers.rvalid):
                    self._judge(m, status, registers.rresp)
                    m.d.sync += answer_bytes.eq(4)
                    m.next = "ANSWER"
            with m.State("WRITE"):
                self._write_register(m)
            with m.State("WRITE_ANSWER"):
                m.d.comb += registers.bready.eq(1)
                with m.If(registers.bvalid):
                    self._judge(m, status, registers.bresp)
                    m.next = "ANSWER"
            with m.State("LOAD"):
                m.d.comb += buffer.request.valid.eq(1)
                m.d.sync += answer_bytes.eq(request.words << _WORD_BITS)
                with m.If(buffer.request.ready):
                    m.next = "LOAD_DATA"
            with m.State("LOAD_DATA"):
                m.d.comb += [put.data.eq(buffer.answer.payload), put.en.eq(buffer.answer.valid)]
                with m.If(buffer.answer.valid):
                    m.d.sync += word.eq(word + 1)
                    one_done("LOAD")
            with m.State("STORE"):
                m.d.comb += [buffer.request.valid.eq(1), buffer.request.payload.write.eq(1)]
                with m.If(buffer.request.ready):
                    m.d.sync += word.eq(word + 1)
                    one_done("STORE_DATA")
            with m.State("STORE_DATA"):
                m.next = "STORE"
            with m.State("FILL"):
                m.d.comb += [buffer.request.valid.eq(1), buffer.request.payload.write.eq(1)]
                with m.If(buffer.request.ready):
                    one_done("FILL")
            self._collect_changes(m, begins, grain, word, place, left, put, answer_bytes)
            self._answer(m, frames_out, request, status, answer_bytes, cycles, word, answered)

    def _names_register(self, request):
        inside = request.address[ADDRESS_BITS:] == 0
        return inside & (request.address[:2] == 0) & (request.words == 0)

    def _fits(self, request):
        """Whether the words are in the tensor buffer; none is not."""
        aligned = request.address[:_WORD_BITS] == 0
        end = request.address + (request.words << _WORD_BITS)
        return aligned & (request.words != 0) & (end <= self.buffer_bytes)

    def _names_grains(self, request):
        """Whether whole words have the bits of the grains, and an answer has room for them."""
        words = CHANGES_BYTES // WORD_BYTES
        whole = (request.address[: bits_for(CHANGES_BYTES)] == 0) & (request.words[: bits_for(words)] == 0)
        return whole & (request.words <= words * _DATA_WORDS)

    def _judge(self, m: Module, status, response) -> None:
        m.d.sync += status.eq(Mux(response[1], Status.REFUSED, Status.DONE))

    def _write_register(self, m: Module) -> None:
        """Address and data of a write are taken apart or together."""
        registers = self.registers
        address_taken, data_taken = Signal(), Signal()
        m.d.comb += [registers.awvalid.eq(~address_taken), registers.wvalid.eq(~data_taken)]
        addressed = address_taken | registers.awready
        written = data_taken | registers.wready
        m.d.sync += [address_taken.eq(addressed), data_taken.eq(written)]
        with m.If(addressed & written):
            m.d.sync += [address_taken.eq(0), data_taken.eq(0)]
            m.next = "WRITE_ANSWER"

    def _collect_changes(self, m: Module, begins, grain, word, place, left, put, answer_bytes) -> None:
        buffer, bits = self.buffer, Signal(64)
        m.d.comb += self.forget.eq(begins)
        step = GRAIN_BYTES // WORD_BYTES
        with m.State("CHANGES"):
            m.d.comb += [buffer.request.valid.eq(1), buffer.request.payload.take.eq(1)]
            with m.If(buffer.request.ready):
                m.next = "CHANGES_BIT"
        with m.State("CHANGES_BIT"):
            with m.If(buffer.answer.valid):
                m.d.sync += [
                    bits.eq(Cat(bits[1:], buffer.answer.payload[0])),
                    grain.eq(grain + 1),
                    place.eq(place + step),
                    left.eq(left - step),
                ]
                m.next = "CHANGES"
                with m.If(grain == 63):
                    m.next = "CHANGES_WORD"
        with m.State("CHANGES_WORD"):
            m.d.comb += [put.data.eq(bits), put.en.eq(1)]
            m.d.sync += [word.eq(word + 1), answer_bytes.eq(answer_bytes + WORD_BYTES)]
            m.next = "CHANGES"
            with m.If(left.all()):
                m.next = "ANSWER"

    def _answer(self, m: Module, frames, request, status, answer_bytes, cycles, word, answered) -> None:
        """Header and data to the line."""
        content, fetched = frames.input, answered.read_port()
        header, left = Signal(_ANSWER), Signal(range(ANSWER_HEADER))
        number = Signal(range(MOST_DATA + 1))
        m.d.comb += fetched.addr.eq(number >> _WORD_BITS)
        with m.State("ANSWER"):
            m.d.sync += [
                header.operation.eq(request.operation),
                header.sequence.eq(request.sequence),
                header.status.eq(status),
                header.flags.eq(Cat(self.irq, self.changed)),
                header.cycles.eq(cycles),
                left.eq(ANSWER_HEADER - 1),
                number.eq(0),
            ]
            m.next = "HEADER"
        with m.State("HEADER"):
            m.d.comb += [
                content.valid.eq(1),
                content.payload.data.eq(header.as_value()[:8]),
                content.payload.last.eq((left == 0) & (answer_bytes == 0)),
            ]
            with m.If(content.ready):
                m.d.sync += [header.eq(header.as_value() >> 8), left.eq(left - 1)]
                with m.If(left == 0):
                    m.next = "FETCH"
                    with m.If(answer_bytes == 0):
                        m.next = "IDLE"
        with m.State("FETCH"):
            m.next = "DATA"
        with m.State("DATA"):
            m.d.comb += [
                content.valid.eq(1),
                content.payload.data.eq(fetched.data.word_select(number[:_WORD_BITS], 8)),
                content.payload.last.eq(number == answer_bytes - 1),
            ]
            with m.If(content.ready):
                m.d.sync += number.eq(number + 1)
                m.next = "FETCH"
                with m.If(content.payload.last):
                    m.next = "IDLE"
