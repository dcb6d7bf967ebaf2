"""The tensor buffer in block memory: AXI ports of a controller, and a port of the serial bridge."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import Axi4Signature
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import Queue, StreamMerge
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.serial import GRAIN_BYTES, WORD_BYTES

OKAY, SLVERR = 0b00, 0b10
READS_UNDER_WAY = 6
"""Words that a reader has room for: as many as keep the memory busy for it alone."""


class WordRequest(data.StructLayout):
    """An access to a word of 8 bytes. `take`: the bit of its grain is read and cleared in its place."""

    def __init__(self, words: int):
        super().__init__({"word": bits_for(words), "write": 1, "take": 1, "strobe": 8, "data": 64})


class WordPort(wiring.Signature):
    """Accesses to words. Answers, to all but writes, come in order, and cannot be refused.

    Members
    -------
    request : Out(stream(WordRequest))
    answer : In(stream(64))   the word, or in its lowest bit that of its grain
    """

    def __init__(self, words: int):
        super().__init__({
            "request": Out(stream.Signature(WordRequest(words))),
            "answer": In(stream.Signature(64, always_ready=True)),
        })  # fmt: skip


class AxiReader(wiring.Component):
    """The reading side of an AXI4 subordinate: INCR bursts of full width, one at a time.

    A burst beyond the memory is answered with SLVERR.

    Latency: 6 cycles from a burst to its first beat. Throughput: a beat per cycle but 2 between bursts.

    Members
    -------
    pins : In(Axi4Signature)   of which it serves `ar` and `r`
    port : Out(WordPort)
    """

    def __init__(self, words: int, *, address_bits: int, data_bits: int):
        self.words = words
        super().__init__({
            "pins": In(Axi4Signature(address_bits=address_bits, data_bits=data_bits)),
            "port": Out(WordPort(words)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        pins, request, answer = self.pins, self.port.request, self.port.answer
        bytes_ = len(pins.rdata) // 8
        lanes = WORD_BYTES // bytes_
        kind = data.StructLayout({"lane": bits_for(lanes), "last": 1, "error": 1, "id": 1})
        m.submodules.kinds = kinds = Queue(kind, READS_UNDER_WAY)
        m.submodules.answers = answers = Queue(64, READS_UNDER_WAY)
        address, left, error = Signal.like(pins.araddr), Signal.like(pins.arlen), Signal()
        identity = Signal()
        under_way = Signal(range(READS_UNDER_WAY + 1))
        busy, room, goes, comes = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            pins.arready.eq(~busy),
            room.eq((under_way != READS_UNDER_WAY) & kinds.input.ready),
            request.valid.eq(busy & room),
            request.payload.word.eq(address >> bits_for(WORD_BYTES)),
            goes.eq(request.valid & request.ready),
            kinds.input.valid.eq(goes),
            kinds.input.payload.lane.eq(address >> bits_for(bytes_)),
            kinds.input.payload.last.eq(left == 0),
            kinds.input.payload.error.eq(error),
            kinds.input.payload.id.eq(identity),
            answers.input.valid.eq(answer.valid),
            answers.input.payload.eq(answer.payload),
            comes.eq(pins.rvalid & pins.rready),
            pins.rvalid.eq(answers.output.valid & kinds.output.valid),
            answers.output.ready.eq(comes),
            kinds.output.ready.eq(comes),
            pins.rdata.eq(answers.output.payload.word_select(kinds.output.payload.lane, 8 * bytes_)),
            pins.rlast.eq(kinds.output.payload.last),
            pins.rid.eq(kinds.output.payload.id),
            pins.rresp.eq(Mux(kinds.output.payload.error, SLVERR, OKAY)),
        ]
        m.d.sync += under_way.eq(under_way + goes - comes)
        with m.If(~busy):
            m.d.sync += [
                busy.eq(pins.arvalid),
                address.eq(pins.araddr),
                left.eq(pins.arlen),
                identity.eq(pins.arid),
                error.eq(_beyond(pins.araddr, self.words)),
            ]
        with m.Elif(goes):
            m.d.sync += [busy.eq(left != 0), address.eq(address + bytes_), left.eq(left - 1)]
        return m


class AxiWriter(wiring.Component):
    """The writing side of an AXI4 subordinate: INCR bursts of full width, one at a time.

    A burst beyond the memory is answered with SLVERR, and writes nothing.

    Latency: 1 cycle from the last beat to the answer. Throughput: a beat per cycle but 2 between bursts.

    Members
    -------
    pins : In(Axi4Signature)   of which it serves `aw`, `w` and `b`
    port : Out(WordPort)
    """

    def __init__(self, words: int, *, address_bits: int, data_bits: int):
        self.words = words
        super().__init__({
            "pins": In(Axi4Signature(address_bits=address_bits, data_bits=data_bits)),
            "port": Out(WordPort(words)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        pins, request = self.pins, self.port.request
        bytes_ = len(pins.wdata) // 8
        lanes = WORD_BYTES // bytes_
        address, error = Signal.like(pins.awaddr), Signal()
        lane = (address >> bits_for(bytes_))[: bits_for(lanes)]
        m.d.comb += [
            request.payload.word.eq(address >> bits_for(WORD_BYTES)),
            request.payload.write.eq(1),
            request.payload.data.eq(Cat(pins.wdata for _ in range(lanes))),
        ]
        for number in range(lanes):
            with m.If(lane == number):
                m.d.comb += request.payload.strobe.word_select(number, bytes_).eq(Mux(error, 0, pins.wstrb))
        with m.FSM(name="write_state"):
            with m.State("IDLE"):
                m.d.comb += pins.awready.eq(1)
                m.d.sync += [
                    address.eq(pins.awaddr),
                    pins.bid.eq(pins.awid),
                    error.eq(_beyond(pins.awaddr, self.words)),
                ]
                with m.If(pins.awvalid):
                    m.next = "BEATS"
            with m.State("BEATS"):
                m.d.comb += [request.valid.eq(pins.wvalid), pins.wready.eq(request.ready)]
                with m.If(pins.wvalid & pins.wready):
                    m.d.sync += address.eq(address + bytes_)
                    with m.If(pins.wlast):
                        m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += [pins.bvalid.eq(1), pins.bresp.eq(Mux(error, SLVERR, OKAY))]
                with m.If(pins.bready):
                    m.next = "IDLE"
        return m


class BufferMemory(wiring.Component):
    """A memory of words, of which one is accessed in a cycle: for the AXI ports and the bridge in turn.

    Each grain of `GRAIN_BYTES` has a bit, which a write of an AXI port sets and the bridge takes.

    Latency: from a request to its answer 4 cycles. Throughput: an access per cycle.

    Parameters
    ----------
    `size` : bytes, a power of two
    `data_bits` : of the data port, at most 64

    Members
    -------
    data, queue : In(Axi4Signature)   the controller's ports
    bridge : In(WordPort)
    changed : Out(1)   an AXI port has written since `forget`
    forget : In(1)     pulse
    """

    def __init__(self, size: int, *, address_bits: int, data_bits: int):
        self.size = size
        self.words = size // WORD_BYTES
        self.address_bits = address_bits
        super().__init__({
            "data": In(Axi4Signature(address_bits=address_bits, data_bits=data_bits)),
            "queue": In(Axi4Signature(address_bits=address_bits, data_bits=64)),
            "bridge": In(WordPort(self.words)),
            "changed": Out(1),
            "forget": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        ports = [self.bridge]
        for name in ("data", "queue"):
            pins = getattr(self, name)
            for kind in (AxiReader, AxiWriter):
                side = kind(self.words, address_bits=self.address_bits, data_bits=len(pins.wdata))
                m.submodules[f"{name}_{kind.__name__}"] = side
                self._connect_side(m, pins, side)
                ports.append(side.port)
        layout = data.StructLayout({"access": WordRequest(self.words), "source": bits_for(len(ports))})
        m.submodules.merge = merge = StreamMerge(layout, len(ports))
        for number, (port, item) in enumerate(zip(ports, merge.inputs, strict=True)):
            m.d.comb += [
                item.valid.eq(port.request.valid),
                item.payload.access.eq(port.request.payload),
                item.payload.source.eq(number),
                port.request.ready.eq(item.ready),
            ]
        self._access(m, merge.output, ports)
        return m

    def _connect_side(self, m: Module, pins, side) -> None:
        """Join the pins of one direction."""
        served = ("ar", "r") if isinstance(side, AxiReader) else ("aw", "w", "b")
        for name, member in side.pins.signature.members.items():
            if not name.startswith(served):
                continue
            inner, outer = getattr(side.pins, name), getattr(pins, name)
            m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)

    def _access(self, m: Module, merged, ports) -> None:
        access, source = merged.payload.access, merged.payload.source
        m.d.comb += merged.ready.eq(1)
        m.submodules.words = words = Memory(shape=64, depth=self.words, init=[], attrs=NEVER_COLLIDES)
        read, write = words.read_port(), words.write_port(granularity=8)
        grains = self.size // GRAIN_BYTES
        grain = access.word[bits_for(GRAIN_BYTES // WORD_BYTES) :]
        m.submodules.written = written = Memory(shape=1, depth=grains, init=[])
        bit, set_bit = written.read_port(domain="comb"), written.write_port()
        of_bridge = source == 0
        taken, take, reads = Signal(), Signal(), Signal(len(ports))
        m.d.comb += [
            read.addr.eq(access.word),
            read.en.eq(merged.valid),
            write.addr.eq(access.word),
            write.data.eq(access.data),
            write.en.eq(Mux(merged.valid & access.write, access.strobe, 0)),
            bit.addr.eq(grain),
            set_bit.addr.eq(grain),
            set_bit.data.eq(~of_bridge),
            set_bit.en.eq(merged.valid & Mux(of_bridge, access.take, access.write & access.strobe.any())),
        ]
        m.d.sync += [
            taken.eq(bit.data),
            take.eq(access.take),
            self.changed.eq(self.changed & ~self.forget | set_bit.en & set_bit.data),
        ]
        answer = Signal(64)
        m.d.sync += answer.eq(Mux(take, taken, read.data))
        for number, port in enumerate(ports):
            asked = merged.valid & ~access.write & (source == number)
            m.d.sync += [reads[number].eq(asked), port.answer.valid.eq(reads[number])]
            m.d.comb += port.answer.payload.eq(answer)


def _beyond(address, words: int):
    """Whether an address is outside of a memory of so many words."""
    return address[bits_for(words * WORD_BYTES) :].any()
