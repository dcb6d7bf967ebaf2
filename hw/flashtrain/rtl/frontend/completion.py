"""Writes completion entries into the queues in the tensor buffer."""

from amaranth import Array, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import Completion, FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.registers import PORTS

from ..arbiter import StreamMerge
from ..axi import WritePort
from ..layouts import Answer
from ..queue import Queue
from .rings import QUEUE_BYTES, after

BURSTS_UNDER_WAY = 16  # one completion every 8 clocks up to 120 clocks of memory latency


class CompletionWriter(wiring.Component):
    """Makes answers into completion entries, one burst of two beats each.

    It never waits for room: `SubmissionFetch` has promised every answer a place in its queue. The beat with
    the phase bit is the last one. A port is interrupted after the tensor buffer has acknowledged its entry.

    Latency: 1 clock from an answer to its burst. Throughput: an entry in 2 clocks, with up to
    `BURSTS_UNDER_WAY` outstanding.

    Members
    -------
    answers : In(stream(Answer)).array(sources)   merged fairly
    cq_base, cq_size : In.array(PORTS)            queues: address, entries - 1
    sq_head : In(16).array(PORTS)                 reported to the host
    axi : Out(WritePort)
    written : Out(PORTS)   pulse: an entry has been written; raises the port's interrupt
    failed : Out(1)        pulse: an answer's status is not success
    fault : Out(1)         the tensor buffer has refused an entry; stays high
    """

    def __init__(self, config: FmsConfig, sources: int):
        self.config = config
        self.sources = sources
        super().__init__({
            "answers": In(stream.Signature(Answer())).array(sources),
            "cq_base": In(config.address_bits).array(PORTS),
            "cq_size": In(16).array(PORTS),
            "sq_head": In(16).array(PORTS),
            "axi": Out(WritePort(address_bits=config.address_bits, data_bits=8 * QUEUE_BYTES)),
            "written": Out(PORTS),
            "failed": Out(1),
            "fault": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.merge = merge = StreamMerge(Answer(), self.sources)
        m.submodules.ports = ports = Queue(bits_for(PORTS), BURSTS_UNDER_WAY)
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
        """Offer the burst and its beats side by side; take the next answer when both are gone."""
        tail = Array(Signal(16, name=f"tail{port}") for port in range(PORTS))
        phase = Array(Signal(init=1, name=f"phase{port}") for port in range(PORTS))
        burst, beat, port = self.axi.aw, self.axi.w, answer.payload.port
        burst_gone, beats_gone, burst_goes, beat_goes = Signal(), Signal(), Signal(), Signal()
        second, done = Signal(), Signal()
        head = Signal(16)

        entry = Signal(8 * Completion.BYTES)
        halves = data.ArrayLayout(8 * QUEUE_BYTES, 2)
        fields = {
            Completion.result: answer.payload.result,
            Completion.sq_head: head,
            Completion.sq_id: port,
            Completion.cid: answer.payload.cid,
            Completion.phase: phase[port],
            Completion.status: answer.payload.status,
        }
        for field, value in fields.items():
            m.d.comb += entry[field.low : field.low + field.width].eq(value)
        m.d.comb += [
            burst.valid.eq(answer.valid & ~burst_gone & ports.ready),
            burst.payload.address.eq(Array(self.cq_base)[port] + tail[port] * Completion.BYTES),
            burst.payload.length.eq(1),
            beat.valid.eq(answer.valid & ~beats_gone),
            beat.payload.data.eq(data.View(halves, entry)[second]),
            beat.payload.last.eq(second),
            burst_goes.eq(burst.valid & burst.ready),
            beat_goes.eq(beat.valid & beat.ready),
            ports.valid.eq(burst_goes),
            ports.payload.eq(port),
            done.eq(answer.valid & (burst_gone | burst_goes) & (beats_gone | beat_goes & second)),
            answer.ready.eq(done),
            self.failed.eq(done & (answer.payload.status != 0)),
        ]
        with m.If(beat_goes):
            # The head may move while the second beat waits.
            m.d.sync += [second.eq(~second), head.eq(Array(self.sq_head)[port])]
        m.d.sync += [
            burst_gone.eq(~done & (burst_gone | burst_goes)),
            beats_gone.eq(~done & (beats_gone | beat_goes & second)),
        ]
        with m.If(done):
            size = Array(self.cq_size)[port]
            m.d.sync += tail[port].eq(after(tail[port], size))
            m.d.sync += phase[port].eq(Mux(tail[port] == size, ~phase[port], phase[port]))
