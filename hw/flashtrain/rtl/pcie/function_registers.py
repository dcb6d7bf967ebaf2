"""The BAR of the function: properties, doorbells, vectors."""

from amaranth import Array, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import DOORBELLS, PENDING, VECTORS

from .layouts import DWORD_BITS, PAGE_EXPONENT_BITS, Access, AdminQueues, Doorbell, Message
from .properties import Properties
from .vectors import ENTRY_DWORDS, Vectors

_REGION = 10
"""Dwords of each region of the BAR, as a power of two."""
_OF_DOORBELLS, _OF_VECTORS, _OF_PENDING = (at // 4 >> _REGION for at in (DOORBELLS, VECTORS, PENDING))


class FunctionRegisters(wiring.Component):
    """Serves accesses to the BAR in their order, one at a time.

    An access is of a whole dword: the port leaves out writes of less. Dwords without a register are 0, and
    writes of them are ignored. A doorbell goes on only while the controller is enabled.

    A reset of the unit is the reset of the function.

    Latency: 1 cycle from a write to its effect, 3 from a read to its answer. Throughput: a write in 2 cycles,
    a read in 4.

    Members
    -------
    accesses : In(stream(Access))
    answers : Out(stream(32))         of reads
    doorbells : Out(stream(Doorbell))
    fire : In(stream)                 a vector
    messages : Out(stream(Message))
    enable_vectors, mask_vectors : In(1)   MSI-X Enable and Function Mask of the configuration space
    enabled, page_exponent, weighted, admin, running, fail, fault, shut_down, ended : see `Properties`
    """

    def __init__(self, queues: int, entries: int):
        self.vectors = queues + 1
        self.entries = entries
        super().__init__({
            "accesses": In(stream.Signature(Access())),
            "answers": Out(stream.Signature(DWORD_BITS)),
            "doorbells": Out(stream.Signature(Doorbell())),
            "fire": In(stream.Signature(bits_for(self.vectors), always_ready=True)),
            "messages": Out(stream.Signature(Message())),
            "enable_vectors": In(1),
            "mask_vectors": In(1),
            "enabled": Out(1),
            "page_exponent": Out(PAGE_EXPONENT_BITS),
            "weighted": Out(1),
            "admin": Out(AdminQueues()),
            "running": In(1),
            "fail": In(1),
            "fault": In(1),
            "shut_down": Out(1),
            "ended": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.properties = properties = Properties(self.entries)
        m.submodules.vectors = vectors = Vectors(self.vectors)
        connect(m, flipped(self.fire), vectors.fire)
        connect(m, vectors.messages, flipped(self.messages))
        m.d.comb += [
            vectors.enable.eq(self.enable_vectors),
            vectors.mask_all.eq(self.mask_vectors),
            self.enabled.eq(properties.enabled),
            self.page_exponent.eq(properties.page_exponent),
            self.weighted.eq(properties.weighted),
            self.admin.eq(properties.admin),
            self.shut_down.eq(properties.shut_down),
            properties.running.eq(self.running),
            properties.fail.eq(self.fail),
            properties.fault.eq(self.fault),
            properties.ended.eq(self.ended),
        ]
        self._serve(m, properties, vectors)
        return m

    def _serve(self, m: Module, properties: Properties, vectors: Vectors):
        access, write = Signal(Access()), Signal()
        region, place = access.offset[_REGION:], access.offset[:_REGION]
        in_table = Signal()
        m.d.comb += [
            in_table.eq(place < ENTRY_DWORDS * self.vectors),
            properties.offset.eq(access.offset),
            properties.data.eq(access.data),
            properties.write.eq(write),
            vectors.place.eq(place),
            vectors.data.eq(access.data),
            vectors.write.eq(write & (region == _OF_VECTORS) & in_table),
            self.doorbells.payload.of_completions.eq(place[0]),
            self.doorbells.payload.queue.eq(place[1:]),
            self.doorbells.payload.value.eq(access.data),
        ]
        value, pending = Signal(DWORD_BITS), Signal(DWORD_BITS)
        words = -(-self.vectors // DWORD_BITS)
        parts = Array(vectors.pending[DWORD_BITS * word : DWORD_BITS * (word + 1)] for word in range(words))
        m.d.sync += [
            value.eq(properties.value),
            pending.eq(Mux(place < words, parts[place[: bits_for(words)]], 0)),
        ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.accesses.ready.eq(1)
                m.d.sync += access.eq(self.accesses.payload)
                with m.If(self.accesses.valid):
                    m.next = "ACT"
            with m.State("ACT"):
                with m.If(~access.write):
                    m.d.comb += vectors.read.eq(1)
                    m.next = "READ"
                with m.Elif((region == _OF_DOORBELLS) & self.enabled):
                    m.d.comb += self.doorbells.valid.eq(1)
                    with m.If(self.doorbells.ready):
                        m.next = "IDLE"
                with m.Else():
                    m.d.comb += write.eq(1)
                    m.next = "IDLE"
            with m.State("READ"):
                m.d.sync += [self.answers.valid.eq(1), self.answers.payload.eq(value)]
                with m.Switch(region):
                    with m.Case(_OF_VECTORS):
                        m.d.sync += self.answers.payload.eq(Mux(in_table, vectors.value, 0))
                    with m.Case(_OF_PENDING):
                        m.d.sync += self.answers.payload.eq(pending)
                m.next = "ANSWER"
            with m.State("ANSWER"), m.If(self.answers.ready):
                m.d.sync += self.answers.valid.eq(0)
                m.next = "IDLE"
