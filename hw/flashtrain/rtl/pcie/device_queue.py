"""The queue pair of port HOST in the place of the tensor buffer: entries, completions and doorbells."""

from amaranth import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.axi import ReadPort, WritePort
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import Completion, Submission
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import WORD_BYTES

from .layouts import BLOCK_BYTES, MOST_BYTES, DeviceAnswer, DeviceCommand, bits_of

_WORD_BITS = 8 * WORD_BYTES
_ENTRY_WORDS = Submission.BYTES // WORD_BYTES


def queue_entries(slots: int) -> int:
    """Places of each queue: more than there can be commands."""
    return 2 * slots


class QueueDoorbell(data.StructLayout):
    """A doorbell of the controller's port: its head of completions, or its tail."""

    def __init__(self):
        super().__init__({"of_completions": 1, "value": 16})


class DeviceQueue(wiring.Component):
    """Serves the fetches of the controller from its commands, and takes its completions as answers.

    Each queue has `queue_entries(slots)` places. Fetches come in the order of the places, so the base of the
    submission queue has no meaning. The completion queue begins at the first address behind the slots. Writes
    below it are reports, which pass.

    A doorbell has the tail or the head of now, so one may be for several commands.

    Latency: 2 cycles from a command to its doorbell, 1 from a fetch to its first beat, 3 from a completion to
    its answer. Throughput: an entry in 9 cycles, a completion in 5.

    Members
    -------
    enable : In(1)      low while the controller is disabled: the queues begin anew
    entries : In(stream(DeviceCommand))      ready for as many as there are slots
    completions : Out(stream(DeviceAnswer))
    refused : In(slots), answered : Out(slots)   see `DataMover`
    read : In(ReadPort), write : In(WritePort)   the controller's port of queues
    reports : Out(WritePort)
    doorbells : Out(stream(QueueDoorbell))
    """

    def __init__(
        self, address_bits: int, slots: int, most_bytes: int = MOST_BYTES, block_bytes: int = BLOCK_BYTES
    ):
        self.slots = slots
        self.offset_bits, self.slot_bits = bits_for(most_bytes), bits_for(slots)
        self.block_bits = bits_for(block_bytes)
        self.command = DeviceCommand(slots, most_bytes, block_bytes)
        port = {"address_bits": address_bits, "data_bits": _WORD_BITS}
        super().__init__({
            "enable": In(1),
            "entries": In(stream.Signature(self.command)),
            "completions": Out(stream.Signature(DeviceAnswer(slots))),
            "refused": In(slots),
            "answered": Out(slots),
            "read": In(ReadPort(**port)),
            "write": In(WritePort(**port)),
            "reports": Out(WritePort(**port)),
            "doorbells": Out(stream.Signature(QueueDoorbell())),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.waiting = waiting = Queue(self.command, self.slots)
        connect(m, flipped(self.entries), waiting.input)
        taken = Signal()
        self._serve(m, waiting.output)
        self._take(m, taken)
        self._ring(m, self.entries.valid & self.entries.ready, taken)
        return m

    def _serve(self, m: Module, item):
        """The words of the entry at the front."""
        command, beat, number = item.payload, self.read.r, Signal(range(_ENTRY_WORDS))
        has_data, s = command.length != 0, Submission
        entry = Signal(8 * s.BYTES)
        fields = {
            s.opcode: command.opcode,
            s.psdt: Mux(has_data, s.PSDT_SGL, 0),
            s.cid: command.slot,
            s.nsid: command.nsid,
            s.address: Mux(has_data, Cat(Const(0, self.block_bits), command.block, command.slot), 0),
            s.length: command.length,
            s.slba: command.slba,
            s.dwords: command.count,
        }
        for field, value in fields.items():
            m.d.comb += bits_of(entry, field).eq(value)
        m.d.comb += entry[s.action.low : s.action.low + len(command.options)].eq(command.options)
        words = Array(entry[place : place + _WORD_BITS] for place in range(0, len(entry), _WORD_BITS))
        m.d.comb += [
            beat.payload.data.eq(words[number]),
            beat.payload.last.eq(number == _ENTRY_WORDS - 1),
            item.ready.eq(beat.valid & beat.ready & beat.payload.last),
        ]
        with m.FSM(name="serve"):
            with m.State("WAIT"):
                m.d.comb += self.read.ar.ready.eq(item.valid)
                with m.If(item.valid & self.read.ar.valid):
                    m.next = "BEATS"
            with m.State("BEATS"):
                m.d.comb += beat.valid.eq(1)
                with m.If(beat.ready):
                    m.d.sync += number.eq(number + 1)
                    with m.If(beat.payload.last):
                        m.next = "WAIT"

    def _take(self, m: Module, taken):
        """Completions become answers, reports pass."""
        write, reports, answer = self.write, self.reports, self.completions.payload
        is_completion = write.aw.payload.address[self.offset_bits + self.slot_bits :].any()
        word = write.w.payload.data
        m.d.comb += [
            reports.aw.payload.eq(write.aw.payload),
            reports.w.payload.eq(write.w.payload),
            answer.unreachable.eq(self.refused.bit_select(answer.slot, 1)),
        ]

        def second(field):
            return word[field.low - _WORD_BITS : field.low - _WORD_BITS + field.width]

        with m.FSM(name="take"):
            with m.State("WAIT"):
                m.d.comb += reports.aw.valid.eq(write.aw.valid & ~is_completion)
                m.d.comb += write.aw.ready.eq(write.aw.valid & is_completion | reports.aw.ready)
                with m.If(write.aw.valid):
                    with m.If(is_completion):
                        m.next = "FIRST"
                    with m.Elif(reports.aw.ready):
                        m.next = "PASS"
            with m.State("FIRST"):
                m.d.comb += write.w.ready.eq(1)
                m.d.sync += answer.result.eq(word)
                with m.If(write.w.valid):
                    m.next = "SECOND"
            with m.State("SECOND"):
                m.d.comb += write.w.ready.eq(1)
                m.d.sync += [
                    answer.slot.eq(second(Completion.cid)),
                    answer.status.eq(second(Completion.status)),
                ]
                with m.If(write.w.valid):
                    m.next = "GIVE"
            with m.State("GIVE"):
                m.d.comb += self.completions.valid.eq(1)
                with m.If(self.completions.ready):
                    m.d.comb += self.answered.bit_select(answer.slot, 1).eq(1)
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += write.b.valid.eq(1)
                with m.If(write.b.ready):
                    m.d.comb += taken.eq(1)
                    m.next = "WAIT"
            with m.State("PASS"):
                m.d.comb += [reports.w.valid.eq(write.w.valid), write.w.ready.eq(reports.w.ready)]
                with m.If(write.w.valid & write.w.ready & write.w.payload.last):
                    m.next = "SETTLE"
            with m.State("SETTLE"):
                m.d.comb += [
                    write.b.valid.eq(reports.b.valid),
                    write.b.payload.eq(reports.b.payload),
                    reports.b.ready.eq(write.b.ready),
                ]
                with m.If(write.b.valid & write.b.ready):
                    m.next = "WAIT"

    def _ring(self, m: Module, comes, taken):
        """Doorbells of both queues in turn, where a place is not that of the last doorbell."""
        bell, bits = self.doorbells, bits_for(queue_entries(self.slots))
        tail, head, told_tail, told_head = (
            Signal(bits, name=name) for name in ("tail", "head", "told_tail", "told_head")
        )
        ahead, behind, chosen = Signal(), Signal(), Signal()
        m.d.comb += [
            ahead.eq(tail != told_tail),
            behind.eq(head != told_head),
            chosen.eq(behind & (~ahead | ~bell.payload.of_completions)),
        ]
        with m.If(bell.ready):
            m.d.sync += bell.valid.eq(0)
        with m.If(~bell.valid & (ahead | behind)):
            m.d.sync += [
                bell.valid.eq(1),
                bell.payload.of_completions.eq(chosen),
                bell.payload.value.eq(Mux(chosen, head, tail)),
            ]
            with m.If(chosen):
                m.d.sync += told_head.eq(head)
            with m.Else():
                m.d.sync += told_tail.eq(tail)
        m.d.sync += [tail.eq(tail + comes), head.eq(head + taken)]
        with m.If(~self.enable):
            m.d.sync += [tail.eq(0), head.eq(0), told_tail.eq(0), told_head.eq(0)]
