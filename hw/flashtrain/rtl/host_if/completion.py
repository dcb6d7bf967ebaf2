"""Completion: answers to entries of the queues in the tensor buffer."""

from functools import reduce
from operator import or_

from amaranth import Array, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import Answer
from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.lib.streams import Queue, StreamMerge
from flashtrain.spec import Completion, FmsConfig, Status
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nvme import RETRIED
from flashtrain.spec.registers import PORTS

from .fetch import QUEUE_BYTES, QueueSettings, wrapped_next

BURSTS_OUTSTANDING = 16  # one completion every 8 cycles up to 120 cycles of memory latency


class CompletionWriter(wiring.Component):
    """Writes a completion entry per answer, in one burst of two beats.

    `SubmissionFetch` has reserved a place in the queue for every answer. The beat with the phase bit is the
    last one. The port's interrupt follows the tensor buffer's response.

    Latency: 1 cycle from an answer to its burst. Throughput: an entry in 3 cycles, with up to
    `BURSTS_OUTSTANDING` outstanding.

    Members
    -------
    answers : In(stream(Answer)).array(sources)   merged fairly
    queues : In(QueueSettings).array(PORTS)
    sq_head : In(16).array(PORTS)                 reported to the host
    axi : Out(WritePort)
    written : Out(PORTS)   pulse: an entry has been written; raises the port's interrupt
    failed : Out(1)        pulse: an answer's status is not success
    fault : Out(1)         the tensor buffer answered an entry with an error; stays high
    """

    def __init__(self, config: FmsConfig, sources: int):
        self.config = config
        self.sources = sources
        super().__init__({
            "answers": In(stream.Signature(Answer(config))).array(sources),
            "queues": In(QueueSettings(config)).array(PORTS),
            "sq_head": In(16).array(PORTS),
            "axi": Out(WritePort(address_bits=config.address_bits, data_bits=8 * QUEUE_BYTES)),
            "written": Out(PORTS),
            "failed": Out(1),
            "fault": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.merge = merge = StreamMerge(Answer(self.config), self.sources)
        m.submodules.ports = ports = Queue(bits_for(PORTS), BURSTS_OUTSTANDING)
        for number in range(self.sources):
            wiring.connect(m, wiring.flipped(self.answers[number]), merge.inputs[number])
        self._write(m, merge.output, ports.input)

        acknowledged = Signal()
        m.d.comb += [
            self.axi.b.ready.eq(1),
            acknowledged.eq(self.axi.b.valid),
            ports.output.ready.eq(acknowledged),
            *(self.written[port].eq(acknowledged & (ports.output.payload == port)) for port in range(PORTS)),
        ]
        m.d.sync += self.fault.eq(self.fault | acknowledged & self.axi.b.payload.error)
        return m

    def _write(self, m: Module, answer, ports):
        """Offer the burst and its beats in parallel; take the next answer in a cycle after both."""
        tail = Array(Signal(16, name=f"tail{port}") for port in range(PORTS))
        phase = Array(Signal(init=1, name=f"phase{port}") for port in range(PORTS))
        bases = Array(queue.cq_base for queue in self.queues)
        burst, beat, port = self.axi.aw, self.axi.w, answer.payload.port
        burst_sent, beats_sent, burst_sends, beat_sends = Signal(), Signal(), Signal(), Signal()
        room, second, done, begun = Signal(), Signal(), Signal(), Signal()
        head = Signal(16)

        status = answer.payload.status
        # An answer stays for three cycles. What its second beat has comes from registers.
        retried, this_phase = Signal(), Signal()
        m.d.sync += [
            retried.eq(reduce(or_, (status == one for one in (Status.SUCCESS, *RETRIED)))),
            this_phase.eq(phase[port]),
        ]
        entry = Signal(8 * Completion.BYTES)
        halves = data.ArrayLayout(8 * QUEUE_BYTES, 2)
        fields = {
            Completion.result: answer.payload.result,
            Completion.sq_head: head,
            Completion.sq_id: port,
            Completion.cid: answer.payload.cid,
            Completion.phase: this_phase,
            Completion.status: status,
            Completion.do_not_retry: ~retried,
        }
        for field, value in fields.items():
            m.d.comb += entry[field.low : field.low + field.width].eq(value)
        m.d.comb += [
            burst.valid.eq(answer.valid & ~burst_sent & room),
            burst.payload.address.eq(bases[port] + tail[port] * Completion.BYTES),
            burst.payload.length.eq(1),
            beat.valid.eq(answer.valid & ~beats_sent),
            beat.payload.data.eq(data.View(halves, entry)[second]),
            beat.payload.last.eq(second),
            burst_sends.eq(burst.valid & burst.ready),
            beat_sends.eq(beat.valid & beat.ready),
            ports.valid.eq(begun),
            ports.payload.eq(port),
            done.eq(burst_sent & beats_sent),
            answer.ready.eq(done),
            self.failed.eq(done & (status != Status.SUCCESS)),
        ]
        with m.If(beat_sends):
            # The head may change while the second beat waits.
            m.d.sync += [second.eq(~second), head.eq(Array(self.sq_head)[port])]
        m.d.sync += [
            begun.eq(burst_sends),  # while the answer is still there
            room.eq(ports.ready & ~begun),  # another burst begins two cycles after one or later
            burst_sent.eq(~done & (burst_sent | burst_sends)),
            beats_sent.eq(~done & (beats_sent | beat_sends & second)),
        ]
        this_tail, size, next_tail = (Signal(16, name=name) for name in ("this_tail", "size", "next_tail"))
        next_phase = Signal()
        m.d.sync += [
            this_tail.eq(tail[port]),
            size.eq(Array(queue.cq_size for queue in self.queues)[port]),
            next_tail.eq(wrapped_next(this_tail, size)),
            next_phase.eq(this_phase ^ (this_tail == size)),
        ]
        with m.If(done):
            m.d.sync += [tail[port].eq(next_tail), phase[port].eq(next_phase)]
