"""The mailbox of admin commands: registers of the firmware that answers them."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import Submission
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import (
    MAILBOX_PAGE_EXPONENT,
    WORD_BYTES,
    Mailbox,
    MailboxAnswer,
    MailboxBurst,
    MailboxChange,
    MailboxControl,
    MailboxState,
)

from .layouts import (
    ADDRESS_BITS,
    BURST_BEATS,
    DWORD_BITS,
    INDEX_BITS,
    OPEN_BITS,
    PAGE_EXPONENT_BITS,
    QUEUE_BITS,
    Access,
    AggregationSetting,
    QueueAnswer,
    QueueChange,
    QueueEntry,
    WordPort,
    bits_of,
)
from .queue_engine import MAILBOX_ENTRIES

MOST_OPEN = 255
"""Commands that were taken and are not answered; others wait."""

_ENTRY_WORDS = Submission.BYTES // WORD_BYTES
_BUFFER_WORD = Mailbox.BUFFER // WORD_BYTES


class AdminMailbox(wiring.Component):
    """Shows admin commands to firmware, and does its work: answers, changes of queues, bursts of 128 bytes.

    Registers are those of `spec.pcie.Mailbox`. Accesses are served in their order, one at a time. Each
    command that was taken has one answer, also while the controller is disabled: then it goes nowhere.
    Commands that wait at that time are dropped.

    A burst begins while a command is open, and fails otherwise. An answer without an open command is ignored.
    So an idle controller touches no memory, whatever its firmware does. Bursts stay within 4 KiB, and begin
    at a multiple of 8 bytes.

    Latency: 3 cycles from a read to its answer; 8 from a write of TAKE to the entry; 1 from a write of
    ANSWER, CHANGE or BURST to its work. Throughput: a write in 2 cycles, a read in 4; a beat of a burst
    to the host in 2 cycles, from the host in 1.

    Members
    -------
    accesses : In(stream(Access))    of the firmware; offsets are dwords of the mailbox
    values : Out(stream(32))         answers to reads
    attention : Out(1)               a command or an end waits, or STATE has a wrong doorbell or a stop
    enabled, page_exponent, shut_down : In   of `Properties`
    ended, fail : Out(1)             pulses for them
    wrong_queue, wrong_value : In(1)   pulses of the engine
    entries : In(stream(QueueEntry))   of the admin queue; always ready
    taken : Out(1)                   pulse: a place for an entry is free again
    answers : Out(stream(QueueAnswer))
    changes : Out(stream(QueueChange))
    settings : Out(stream(AggregationSetting))   of interrupts, always ready; in the cycle of their write
    weights : Out(32)                ARBITRATION
    queue : Out, open : In           commands of an I/O submission queue, a cycle later
    read : Out(ReadPort), write : Out(WordPort)
    idle : Out(1)                    no command is here, and no work
    """

    def __init__(self):
        sizes = {"address_bits": ADDRESS_BITS, "data_bits": 8 * WORD_BYTES}
        super().__init__({
            "accesses": In(stream.Signature(Access())),
            "values": Out(stream.Signature(DWORD_BITS)),
            "attention": Out(1),
            "enabled": In(1),
            "page_exponent": In(PAGE_EXPONENT_BITS),
            "shut_down": In(1),
            "ended": Out(1),
            "fail": Out(1),
            "wrong_queue": In(1),
            "wrong_value": In(1),
            "entries": In(stream.Signature(QueueEntry(), always_ready=True)),
            "taken": Out(1),
            "answers": Out(stream.Signature(QueueAnswer())),
            "changes": Out(stream.Signature(QueueChange())),
            "settings": Out(stream.Signature(AggregationSetting(), always_ready=True)),
            "weights": Out(DWORD_BITS),
            "queue": Out(QUEUE_BITS),
            "open": In(OPEN_BITS),
            "read": Out(ReadPort(**sizes)),
            "write": Out(WordPort()),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.waiting = self._waiting = waiting = Queue(8 * Submission.BYTES, MAILBOX_ENTRIES)
        # The entry that was taken, and the buffer, at the words of their registers.
        m.submodules.words = words = Memory(
            shape=8 * WORD_BYTES, depth=2 * BURST_BEATS, init=[], attrs=NEVER_COLLIDES
        )
        self._writer, self._reader = words.write_port(granularity=DWORD_BITS), words.read_port()
        self._state, self._control = (
            Signal(MAILBOX_PAGE_EXPONENT.low, name=name) for name in ("state", "control")
        )
        self._takes, self._begins, self._posts, self._asks = (
            Signal(name=name) for name in ("takes", "begins", "posts", "asks")
        )
        self._busy, self._open, self._failed = Signal(), Signal(range(MOST_OPEN + 1)), Signal()
        self._direction, self._beats = Signal(), Signal(range(BURST_BEATS))
        self._kept = Signal(MailboxBurst.kept.width, name="kept")

        may_take, found, any_open = Signal(), Signal(), Signal()
        seen, was_enabled = Signal(3), Signal()  # wrong doorbells, and the end of the queues
        forgets = Cat(
            self._control[_bit(flag)]
            for flag in (MailboxState.WRONG_QUEUE, MailboxState.WRONG_VALUE, MailboxState.STOPPED)
        )
        m.d.sync += [
            may_take.eq(waiting.output.valid & self.enabled & (self._open != MOST_OPEN)),
            any_open.eq(self._open != 0),
            # An answer that is under way is `busy`.
            self._open.eq(self._open + self._takes - self._posts),
            was_enabled.eq(self.enabled),
            seen.eq(Cat(self.wrong_queue, self.wrong_value, was_enabled & ~self.enabled) | seen & ~forgets),
            self.attention.eq(may_take | self.shut_down | seen.any()),
            self.idle.eq(~any_open & ~self._busy & (waiting.level == 0) & ~self.entries.valid),
        ]
        m.d.comb += [
            waiting.input.valid.eq(self.entries.valid),
            waiting.input.payload.eq(self.entries.payload.bytes),
            self.ended.eq(self._control[_bit(MailboxControl.ENDED)]),
            self.fail.eq(self._control[_bit(MailboxControl.FAIL)]),
        ]
        for bit, value in (
            (MailboxState.ENABLED, self.enabled), (MailboxState.SHUT_DOWN, self.shut_down),
            (MailboxState.WAITING, may_take), (MailboxState.TAKEN, found),
            (MailboxState.BUSY, self._busy), (MailboxState.FAILED, self._failed),
            (MailboxState.WRONG_QUEUE, seen[0]), (MailboxState.WRONG_VALUE, seen[1]),
            (MailboxState.STOPPED, seen[2]),
        ):  # fmt: skip
            m.d.comb += self._state[_bit(bit)].eq(value)
        self._serve(m, may_take & waiting.output.valid, any_open, found)
        self._work(m, any_open)
        return m

    def _serve(self, m: Module, may_take, any_open, found):
        """Accesses of the firmware, as `FunctionRegisters` serves those of the host."""
        access, acts = Signal(Access()), Signal()
        value, state = Signal(DWORD_BITS), Signal(DWORD_BITS)
        item, change, at = self.answers.payload, self.changes.payload, access.offset
        m.d.sync += state.eq(Cat(self._state, self.page_exponent))
        writes = {register: Signal(name=f"writes_{register.name}".lower()) for register in Mailbox}
        with m.FSM(name="serve"):
            with m.State("IDLE"):
                m.d.comb += self.accesses.ready.eq(1)
                m.d.sync += access.eq(self.accesses.payload)
                with m.If(self.accesses.valid):
                    m.next = "ACT"
            with m.State("ACT"):
                m.d.comb += acts.eq(access.write)
                with m.If(access.write):
                    for register, pulse in writes.items():
                        m.d.comb += pulse.eq(at == register // 4)
                    m.next = "IDLE"
                with m.Else():
                    m.next = "READ"
            with m.State("READ"):
                m.d.sync += [self.values.valid.eq(1), self.values.payload.eq(value)]
                m.next = "ANSWER"
            with m.State("ANSWER"), m.If(self.values.ready):
                m.d.sync += self.values.valid.eq(0)
                m.next = "IDLE"

        word = self._reader.data
        m.d.comb += value.eq(Mux(at[0], word[DWORD_BITS:], word[:DWORD_BITS]))
        with m.Switch(at):
            with m.Case(Mailbox.STATE // 4):
                m.d.comb += value.eq(state)
            with m.Case(Mailbox.OPEN // 4):
                m.d.comb += value.eq(self.open)
        dword, free = access.data, ~self._busy
        m.d.comb += [
            self._control.eq(Mux(writes[Mailbox.CONTROL], dword, 0)),
            self._takes.eq(writes[Mailbox.TAKE] & may_take & self.enabled & free),
            self._posts.eq(writes[Mailbox.ANSWER] & free & any_open),
            self._asks.eq(writes[Mailbox.CHANGE] & free),
            self._begins.eq(writes[Mailbox.BURST] & free),
        ]
        m.d.comb += [
            self.settings.valid.eq(writes[Mailbox.AGGREGATION] | writes[Mailbox.VECTOR]),
            self.settings.payload.of_vector.eq(at == Mailbox.VECTOR // 4),
            self.settings.payload.value.eq(dword),
        ]
        with m.If(writes[Mailbox.ARBITRATION]):
            m.d.sync += self.weights.eq(dword)
        with m.If(~self.enabled):
            m.d.sync += self.weights.eq(0)
        with m.If(writes[Mailbox.TAKE]):
            m.d.sync += found.eq(self._takes)
        with m.If(writes[Mailbox.OPEN]):
            m.d.sync += self.queue.eq(dword)
        with m.If(writes[Mailbox.SIZE]):
            m.d.sync += change.size.eq(dword[:INDEX_BITS])
        with m.If(self._posts):
            m.d.sync += [
                item.cid.eq(bits_of(dword, MailboxAnswer.cid)),
                item.status.eq(bits_of(dword, MailboxAnswer.status)),
                item.do_not_retry.eq(bits_of(dword, MailboxAnswer.do_not_retry)),
            ]
        with m.If(self._asks):
            m.d.sync += [
                change.kind.eq(bits_of(dword, MailboxChange.kind)),
                change.interrupts.eq(bits_of(dword, MailboxChange.interrupts)),
                change.queue.eq(bits_of(dword, MailboxChange.queue)),
                change.partner.eq(bits_of(dword, MailboxChange.partner)),
                change.priority.eq(bits_of(dword, MailboxChange.priority)),
            ]
        with m.If(self._begins):
            m.d.sync += self._direction.eq(bits_of(dword, MailboxBurst.write))
            m.d.sync += self._beats.eq(bits_of(dword, MailboxBurst.beats))
            m.d.sync += self._kept.eq(bits_of(dword, MailboxBurst.kept))
        for register, target in ((Mailbox.ADDRESS, change.base), (Mailbox.RESULT, item.result)):
            for half in range(2):
                with m.If(acts & (at == register // 4 + half) & ~self._busy):
                    m.d.sync += target[DWORD_BITS * half : DWORD_BITS * (half + 1)].eq(dword)
        in_buffer = at[bits_for(Mailbox.BUFFER // 4) :] == 1
        m.d.comb += [
            self._writer.addr.eq(at[1:]),
            self._writer.data.eq(dword.replicate(2)),
            self._writer.en.eq(Cat(~at[0], at[0]) & (acts & in_buffer & free).replicate(2)),
            self._reader.addr.eq(at[1:]),
        ]

    def _work(self, m: Module, any_open):
        """Work that the firmware has begun, one at a time."""
        waiting, place = self._waiting, Signal(range(BURST_BEATS))
        burst, beat, wrote = self.write.aw, self.write.w, self.write.b
        read, found = self.read.ar, self.read.r
        of_buffer = Const(_BUFFER_WORD // BURST_BEATS)
        m.d.comb += [
            read.payload.address.eq(self.changes.payload.base),
            read.payload.length.eq(self._beats),
            burst.payload.address.eq(self.changes.payload.base),
            burst.payload.length.eq(self._beats),
            beat.payload.data.eq(self._reader.data),
            beat.payload.last.eq(place == self._beats),
            beat.payload.masked.eq(self._kept),
            wrote.ready.eq(1),
            self.taken.eq(waiting.output.ready & waiting.output.valid),
        ]
        with m.FSM(name="work") as steps:
            with m.State("REST"):
                m.d.sync += place.eq(0)
                # Commands that nobody will take.
                m.d.comb += waiting.output.ready.eq(~self.enabled)
                with m.If(self._takes):
                    m.next = "COPY"
                with m.If(self._posts):
                    m.next = "ANSWER"
                with m.If(self._asks):
                    m.next = "CHANGE"
                with m.If(self._begins):
                    m.d.sync += self._failed.eq(~any_open)
                    with m.If(any_open):
                        m.next = "ASK"
            with m.State("COPY"):
                m.d.comb += [
                    self._writer.addr.eq(place),
                    self._writer.data.eq(waiting.output.payload.word_select(place[:3], 8 * WORD_BYTES)),
                    self._writer.en.eq(~0),
                ]
                m.d.sync += place.eq(place + 1)
                with m.If(place == _ENTRY_WORDS - 1):
                    m.d.comb += waiting.output.ready.eq(1)
                    m.next = "REST"
            with m.State("ANSWER"):
                m.d.comb += self.answers.valid.eq(1)
                with m.If(self.answers.ready):
                    m.next = "REST"
            with m.State("CHANGE"):
                m.d.comb += self.changes.valid.eq(1)
                with m.If(self.changes.ready):
                    m.next = "REST"
            with m.State("ASK"):
                m.d.comb += [read.valid.eq(~self._direction), burst.valid.eq(self._direction)]
                with m.If(self._direction & burst.ready):
                    m.next = "FETCH"
                with m.If(~self._direction & read.ready):
                    m.next = "STORE"
            with m.State("STORE"):
                m.d.comb += [
                    found.ready.eq(1),
                    self._writer.addr.eq(Cat(place, of_buffer)),
                    self._writer.data.eq(found.payload.data),
                    self._writer.en.eq(found.valid.replicate(2)),
                ]
                with m.If(found.valid):
                    m.d.sync += [place.eq(place + 1), self._failed.eq(self._failed | found.payload.error)]
                    with m.If(found.payload.last):
                        m.next = "REST"
            with m.State("FETCH"):
                m.d.comb += self._reader.addr.eq(Cat(place, of_buffer))
                m.next = "SEND"
            with m.State("SEND"):
                m.d.comb += [beat.valid.eq(1), self._reader.en.eq(0)]
                with m.If(beat.ready):
                    m.d.sync += place.eq(place + 1)
                    m.next = "FETCH"
                    with m.If(beat.payload.last):
                        m.next = "WAIT"
            with m.State("WAIT"), m.If(wrote.valid):
                m.d.sync += self._failed.eq(wrote.payload.error)
                m.next = "REST"
        m.d.comb += self._busy.eq(~steps.ongoing("REST"))


def _bit(flag: int) -> int:
    return flag.bit_length() - 1
