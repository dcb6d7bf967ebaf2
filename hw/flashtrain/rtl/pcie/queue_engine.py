"""The queues of the function: commands from the host's memory, and completions to it."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.host_if.fetch import wrapped_next
from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import Completion, Submission
from flashtrain.spec.pcie import PAGE_BITS, WORD_BYTES

from .layouts import (
    ADDRESS_BITS,
    DWORD_BITS,
    INDEX_BITS,
    QUEUE_BITS,
    AdminQueues,
    ChangeKind,
    Doorbell,
    QueueAnswer,
    QueueChange,
    QueueEntry,
    WordPort,
)
from .queue_turns import QueueTurns

OUTSTANDING = 16
"""Fetches under way, and completion entries that were not acknowledged."""
MAILBOX_ENTRIES, BUFFER_ENTRIES = 4, 16
"""Places for admin commands and for I/O commands behind the engine."""

_ENTRY_BEATS, _COMPLETION_BEATS = Submission.BYTES // WORD_BYTES, Completion.BYTES // WORD_BYTES
_BASE_BITS = ADDRESS_BITS - PAGE_BITS


class Job(enum.Enum):
    """The next work of the engine; each takes four cycles."""

    CHANGE = 0
    TAIL = 1  # a doorbell of a submission queue
    HEAD = 2  # a doorbell of a completion queue
    ANSWER = 3
    FETCH = 4


class QueueEngine(wiring.Component):
    """Fetches commands, posts completions and keeps the places of all queues, one job at a time.

    A job reads the settings and places of a submission queue and its completion queue from memories, compares
    them, and writes what changes. Changes of queues come first, then doorbells, admin answers, other answers,
    and fetches. Admin commands are fetched first, and other queues take turns, entry by entry: `QueueTurns`.

    A command is fetched when there is a place for it behind the engine. That of an I/O command reserves a
    place in its completion queue, so its answer never waits. An admin answer waits for a place.

    - The tail of a submission queue moves behind its old one, and not to its head or past it. The head of a
      completion queue moves behind its old one, and not past its tail. Other doorbells change nothing.
    - A deleted submission queue is not read any more, and its commands have all been delivered. Answers for a
      deleted completion queue are dropped.
    - While not enabled nothing begins. Work under way ends, and commands that arrive are dropped.

    Answers are of commands that were delivered, one for each. Numbers of queues in changes and answers exist.

    Latency: 8 cycles from a doorbell of the admin queue to its burst, 10 to 13 from another one; 1 from the
    last beat to the entry; 4 from an answer to its burst; none from the acknowledgement to the interrupt.
    Throughput: a job in 4 cycles, a fetch in at most 9 with up to 80 cycles of memory latency. A command and
    its answer take 8 cycles of the engine, and each doorbell 4 more.

    Members
    -------
    enable : In(1), admin : In(AdminQueues)   of `Properties`
    weighted : In(1), weights : In(32)    see `QueueTurns`; the first is constant while enabled
    running : Out(1)        queues are in use, or something of them is under way
    failed : Out(1)         pulse: the host's memory has refused a request
    doorbells : In(stream(Doorbell))
    wrong_queue, wrong_value : Out(1)   pulse: a doorbell has no queue, or no possible value
    changes : In(stream(QueueChange))   I/O queues; the admin queues are made when the engine is enabled
    entries : Out(stream(QueueEntry))   always ready
    taken : In(2)           pulse: a place for an admin command, or an I/O command, is free again
    admin_answers, answers : In(stream(QueueAnswer))
    interrupts : Out(stream(vector))    always ready; after the entry's acknowledgement
    read : Out(ReadPort), write : Out(WordPort)
    """

    def __init__(self, queues: int):
        self.queues = queues
        sizes = {"address_bits": ADDRESS_BITS, "data_bits": 8 * WORD_BYTES}
        super().__init__({
            "enable": In(1),
            "admin": In(AdminQueues()),
            "weighted": In(1),
            "weights": In(DWORD_BITS),
            "running": Out(1),
            "failed": Out(1),
            "doorbells": In(stream.Signature(Doorbell())),
            "wrong_queue": Out(1),
            "wrong_value": Out(1),
            "changes": In(stream.Signature(QueueChange())),
            "entries": Out(stream.Signature(QueueEntry(), always_ready=True)),
            "taken": In(2),
            "admin_answers": In(stream.Signature(QueueAnswer())),
            "answers": In(stream.Signature(QueueAnswer())),
            "interrupts": Out(stream.Signature(QUEUE_BITS, always_ready=True)),
            "read": Out(ReadPort(**sizes)),
            "write": Out(WordPort()),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        self._job, self._number = Signal(Job), Signal(QUEUE_BITS)
        self._value, self._exists = Signal(16), Signal()
        self._up, self._step = Signal(), Signal(2)
        # Queues that exist, and submission queues that have entries to be fetched.
        self._sq_open, self._cq_open = Signal(self.queues + 1), Signal(self.queues + 1)
        self._pending = Signal(self.queues + 1)
        self._mailbox = Signal(range(MAILBOX_ENTRIES + 1), init=MAILBOX_ENTRIES)
        self._buffer = Signal(range(BUFFER_ENTRIES + 1), init=BUFFER_ENTRIES)
        self._begins, self._entry = Signal(), Signal(8 * Completion.BYTES)
        self._blocked = Signal()  # the admin answer waits for a place in its completion queue
        m.submodules.turn = self._turn = QueueTurns(self.queues)
        m.submodules.flights = self._flights = Queue(
            data.StructLayout({"queue": QUEUE_BITS, "head": INDEX_BITS}), OUTSTANDING
        )
        m.submodules.reports = self._reports = Queue(
            data.StructLayout({"vector": QUEUE_BITS, "interrupts": 1}), OUTSTANDING
        )
        m.d.comb += [self._turn.weighted.eq(self.weighted), self._turn.weights.eq(self.weights)]
        choosing, reading, changing = Signal(), Signal(), Signal()
        self._memories(m, choosing, reading)
        self._choose(m, choosing)
        self._compare(m)
        with m.FSM() as steps:
            with m.State("CHOOSE"), m.If(choosing):
                m.next = "READ"
            with m.State("READ"):
                m.next = "COMPARE"
            with m.State("COMPARE"):
                m.next = "COMMIT"
            with m.State("COMMIT"):
                self._commit(m)
                m.next = "CHOOSE"
        idle = Signal()
        m.d.comb += [
            idle.eq(steps.ongoing("CHOOSE")),
            reading.eq(steps.ongoing("READ")),
            changing.eq(steps.ongoing("COMMIT") & (self._job == Job.CHANGE)),
        ]
        with m.If(~idle):
            m.d.comb += choosing.eq(0)
        self._live(m, idle)
        unread, unposted = Signal(), Signal()
        self._arrive(m, ~choosing & ~changing, unread)
        self._post(m, unposted)
        m.d.sync += self.failed.eq(self.enable & (unread | unposted))
        return m

    def _live(self, m: Module, idle):
        """While not enabled there are no queues, and what comes in is dropped."""
        bursts = self.read.ar.valid | self.write.aw.valid | self.write.w.valid
        quiet = idle & ~bursts & (self._flights.level == 0) & (self._reports.level == 0)
        with m.If(self._up):
            m.d.sync += self.running.eq(1)
        with m.If(~self.enable):
            m.d.sync += [self._sq_open.eq(0), self._cq_open.eq(0), self._pending.eq(0)]
            m.d.sync += [self._step.eq(0), self._blocked.eq(0), self.running.eq(self.running & ~quiet)]
            with m.If(idle):
                inputs = self.doorbells, self.changes, self.admin_answers, self.answers
                m.d.comb += [item.ready.eq(1) for item in inputs]

    def _memories(self, m: Module, choosing, reading):
        """Settings and places: of a submission queue after `choosing`, of its partner after `reading`."""
        settings = data.StructLayout({"base": _BASE_BITS, "size": INDEX_BITS, "partner": QUEUE_BITS})
        answered = data.StructLayout(
            {"base": _BASE_BITS, "size": INDEX_BITS, "partner": QUEUE_BITS, "interrupts": 1}
        )
        tail = data.StructLayout({"index": INDEX_BITS, "phase": 1})
        self._sq_at, self._cq_at, self._cq_number = Signal(QUEUE_BITS), Signal(QUEUE_BITS), Signal(QUEUE_BITS)
        self._writers, self._rows = {}, {}
        for name, shape in (
            ("sq", settings), ("sq_tail", INDEX_BITS), ("sq_next", INDEX_BITS), ("sq_head", INDEX_BITS),
            ("cq", answered), ("cq_head", INDEX_BITS), ("cq_reserved", INDEX_BITS), ("cq_tail", tail),
        ):  # fmt: skip
            memory = Memory(shape=shape, depth=self.queues + 1, init=[], attrs=NEVER_COLLIDES)
            m.submodules[name] = memory
            reader = memory.read_port()
            of_sq = name.startswith("sq")
            m.d.comb += [
                reader.addr.eq(self._sq_at if of_sq else self._cq_at),
                reader.en.eq(choosing if of_sq else reading),
            ]
            self._writers[name], self._rows[name] = memory.write_port(), reader.data
        of_number = (self._job == Job.HEAD) | (self._job == Job.CHANGE)
        m.d.comb += self._cq_at.eq(Mux(of_number, self._number, self._rows["sq"].partner))
        with m.If(reading):
            m.d.sync += self._cq_number.eq(self._cq_at)
        for name, writer in self._writers.items():
            if name != "sq_head":
                m.d.comb += writer.addr.eq(self._number if name.startswith("sq") else self._cq_number)

    def _choose(self, m: Module, choosing):
        """The next job, the number of its queue, and the value of a doorbell."""
        doorbell, change, fetches = self.doorbells.payload, Signal(), Signal()
        deletes = self.changes.valid & (self.changes.payload.kind == ChangeKind.DELETE_SUBMISSIONS)
        begins = self.enable & (self._step != 2) & ~self.running
        may_post = ~self.write.aw.valid & ~self.write.w.valid & self._reports.input.ready
        may_fetch = ~self.read.ar.valid & self._flights.input.ready & ~deletes
        of_admin = self._pending[0] & (self._mailbox != 0)
        m.d.comb += [
            self._up.eq(self.enable & (self._step == 2)),
            change.eq(self.changes.valid & (~deletes | (self._flights.level == 0))),
            fetches.eq(may_fetch & (of_admin | self._turn.valid & (self._buffer != 0))),
            self._turn.requests.eq(self._pending[1:]),
        ]
        candidates = (
            (begins, Job.CHANGE, 0),
            (self._up & change, Job.CHANGE, self.changes.payload.queue),
            (self._up & self.doorbells.valid & ~doorbell.of_completions, Job.TAIL, doorbell.queue),
            (self._up & self.doorbells.valid & doorbell.of_completions, Job.HEAD, doorbell.queue),
            (self._up & self.admin_answers.valid & ~self._blocked & may_post, Job.ANSWER, 0),
            (self._up & self.answers.valid & may_post, Job.ANSWER, self.answers.payload.queue),
            (self._up & fetches, Job.FETCH, Mux(of_admin, 0, self._turn.index + 1)),
        )
        job, at = Signal(Job), Signal(QUEUE_BITS)
        for number, (condition, kind, queue) in enumerate(candidates):
            with m.If(condition) if number == 0 else m.Elif(condition):
                m.d.comb += [choosing.eq(1), job.eq(kind), at.eq(queue)]
        # The next queue is searched while this one's job goes on, and may turn out to have nothing more.
        m.d.comb += [self._sq_at.eq(at), self._turn.take.eq(choosing & (job == Job.FETCH) & ~of_admin)]
        with m.If(choosing):
            m.d.sync += [
                self._job.eq(job),
                self._number.eq(at),
                self._value.eq(doorbell.value),
                self._exists.eq(doorbell.queue <= self.queues),
            ]

    def _compare(self, m: Module):
        """The comparisons that the jobs need, from the rows: each in a register."""
        rows, of_head = self._rows, Signal()
        first, last, size = (Signal(INDEX_BITS, name=name) for name in ("first", "last", "size"))
        tail = rows["cq_tail"].index
        m.d.comb += [
            of_head.eq(self._job == Job.HEAD),
            first.eq(Mux(of_head, rows["cq_head"], rows["sq_tail"])),
            last.eq(Mux(of_head, tail, rows["sq_head"])),
            size.eq(Mux(of_head, rows["cq"].size, rows["sq"].size)),
        ]
        self._above, self._below, self._wraps, self._inside = (
            Signal(name=name) for name in ("above", "below", "wraps", "inside")
        )
        self._sq_is_open, self._cq_is_open, self._has_work = Signal(), Signal(), Signal()
        self._next, self._reserved, self._tail = (
            Signal(INDEX_BITS, name=name) for name in ("following", "reserved", "tail")
        )
        value = self._value
        m.d.sync += [
            self._above.eq(value > first),
            self._below.eq(Mux(of_head, value <= last, value < last)),
            self._wraps.eq(Mux(of_head, first > last, first >= last)),
            self._inside.eq(value <= size),
            self._sq_is_open.eq(self._sq_open.bit_select(self._number, 1)),
            self._cq_is_open.eq(self._cq_open.bit_select(self._cq_number, 1)),
            self._has_work.eq(rows["sq_next"] != rows["sq_tail"]),
            self._next.eq(wrapped_next(rows["sq_next"], rows["sq"].size)),
            self._reserved.eq(wrapped_next(rows["cq_reserved"], rows["cq"].size)),
            self._tail.eq(wrapped_next(tail, rows["cq"].size)),
        ]

    def _commit(self, m: Module):
        with m.Switch(self._job):
            with m.Case(Job.CHANGE):
                self._change(m)
            with m.Case(Job.TAIL, Job.HEAD):
                self._ring(m)
            with m.Case(Job.ANSWER):
                self._answer(m)
            with m.Case(Job.FETCH):
                self._fetch(m)

    def _write(self, m: Module, name: str, value):
        writer = self._writers[name]
        m.d.comb += [Value.cast(writer.data).eq(value), writer.en.eq(self.enable)]
        if name == "sq_head":
            m.d.comb += writer.addr.eq(self._number)

    def _change(self, m: Module):
        """Make or delete a queue. The engine itself makes the admin queues, that of completions first."""
        own, change = self._step != 2, self.changes.payload
        kind, base, size = Signal(ChangeKind), Signal(ADDRESS_BITS), Signal(INDEX_BITS)
        partner, interrupts = Signal(QUEUE_BITS), Signal()
        m.d.comb += [
            kind.eq(change.kind), base.eq(change.base), size.eq(change.size),
            partner.eq(change.partner), interrupts.eq(change.interrupts), self.changes.ready.eq(~own),
        ]  # fmt: skip
        with m.If(own):
            first = self._step == 0
            m.d.comb += [
                kind.eq(Mux(first, ChangeKind.CREATE_COMPLETIONS, ChangeKind.CREATE_SUBMISSIONS)),
                base.eq(Mux(first, self.admin.cq_base, self.admin.sq_base)),
                size.eq(Mux(first, self.admin.cq_size, self.admin.sq_size)),
                partner.eq(0),
                interrupts.eq(1),
            ]
            m.d.sync += self._step.eq(self._step + 1)
        m.d.comb += [
            self._turn.sets.eq((kind == ChangeKind.CREATE_SUBMISSIONS) & ~own),
            self._turn.queue.eq(self._number - 1),
            self._turn.priority.eq(change.priority),
        ]
        sq_open = self._sq_open.bit_select(self._number, 1)
        cq_open = self._cq_open.bit_select(self._cq_number, 1)
        page = base[PAGE_BITS:]
        with m.Switch(kind):
            with m.Case(ChangeKind.CREATE_COMPLETIONS):
                self._write(m, "cq", Cat(page, size, partner, interrupts))
                self._write(m, "cq_head", 0)
                self._write(m, "cq_reserved", 0)
                self._write(m, "cq_tail", 1 << INDEX_BITS)  # the first phase is 1
                m.d.sync += cq_open.eq(1)
            with m.Case(ChangeKind.CREATE_SUBMISSIONS):
                self._write(m, "sq", Cat(page, size, partner))
                self._write(m, "sq_tail", 0)
                self._write(m, "sq_next", 0)
                self._write(m, "sq_head", 0)
                m.d.sync += [sq_open.eq(1), self._pending.bit_select(self._number, 1).eq(0)]
            with m.Case(ChangeKind.DELETE_COMPLETIONS):
                m.d.sync += cq_open.eq(0)
            with m.Case(ChangeKind.DELETE_SUBMISSIONS):
                m.d.sync += [sq_open.eq(0), self._pending.bit_select(self._number, 1).eq(0)]

    def _ring(self, m: Module):
        """A doorbell: its value is between two places, round the end of the queue or not."""
        of_head = self._job == Job.HEAD
        is_open = self._exists & Mux(of_head, self._cq_is_open, self._sq_is_open)
        possible = self._inside & Mux(self._wraps, self._above | self._below, self._above & self._below)
        m.d.comb += [
            self.doorbells.ready.eq(1),
            self.wrong_queue.eq(self.enable & ~is_open),
            self.wrong_value.eq(self.enable & is_open & ~possible),
        ]
        with m.If(is_open & possible):
            with m.If(of_head):
                self._write(m, "cq_head", self._value)
                m.d.sync += self._blocked.eq(self._blocked & (self._number != 0))
            with m.Else():
                self._write(m, "sq_tail", self._value)
                m.d.sync += self._pending.bit_select(self._number, 1).eq(1)

    def _fetch(self, m: Module):
        burst, begins, settings = self.read.ar, self._begins, self._rows["sq"]
        of_admin, following = self._number == 0, self._rows["sq_next"]
        room = of_admin | (self._reserved != self._rows["cq_head"])
        m.d.comb += [
            begins.eq(self.enable & self._sq_is_open & self._has_work & room),
            self._flights.input.valid.eq(begins),
            self._flights.input.payload.queue.eq(self._number),
            self._flights.input.payload.head.eq(self._next),
        ]
        with m.If(begins):
            self._write(m, "sq_next", self._next)
            with m.If(~of_admin):
                self._write(m, "cq_reserved", self._reserved)
            m.d.sync += [
                burst.valid.eq(1),
                burst.payload.address.eq(_place(settings.base, following, Submission.BYTES)),
                burst.payload.length.eq(_ENTRY_BEATS - 1),
            ]
        with m.If(~self._has_work | begins & (self._next == self._rows["sq_tail"])):
            m.d.sync += self._pending.bit_select(self._number, 1).eq(0)

    def _answer(self, m: Module):
        of_admin, settings, tail = self._number == 0, self._rows["cq"], self._rows["cq_tail"]
        answer, posts, full = Signal(QueueAnswer()), Signal(), Signal()
        m.d.comb += [
            answer.eq(Mux(of_admin, self.admin_answers.payload, self.answers.payload)),
            full.eq(of_admin & (self._tail == self._rows["cq_head"])),
            posts.eq(self.enable & self._cq_is_open & ~full),
            self._reports.input.valid.eq(posts),
            self._reports.input.payload.vector.eq(settings.partner),
            self._reports.input.payload.interrupts.eq(settings.interrupts),
            self.admin_answers.ready.eq(of_admin & ~full),
            self.answers.ready.eq(~of_admin),
        ]
        with m.If(full):
            m.d.sync += self._blocked.eq(1)
        with m.If(posts):
            self._write(m, "cq_tail", Cat(self._tail, tail.phase ^ (self._tail == 0)))
            fields = {
                Completion.result: answer.result,
                Completion.sq_head: self._rows["sq_head"],
                Completion.sq_id: self._number,
                Completion.cid: answer.cid,
                Completion.phase: tail.phase,
                Completion.status: answer.status,
                Completion.do_not_retry: answer.do_not_retry,
            }
            for field, value in fields.items():
                m.d.sync += self._entry[field.low : field.low + field.width].eq(value)
            m.d.sync += [
                self.write.aw.valid.eq(1),
                self.write.aw.payload.address.eq(_place(settings.base, tail.index, Completion.BYTES)),
                self.write.aw.payload.length.eq(_COMPLETION_BEATS - 1),
                self.write.w.valid.eq(1),
                self.write.w.payload.last.eq(0),
            ]

    def _arrive(self, m: Module, may_write, unread):
        """Beats to entries. The head of a queue moves when its entry has arrived."""
        beat, burst, flight = self.read.r, self.read.ar, self._flights.output
        entry, failed, last, lost = self.entries, Signal(), Signal(), Signal()
        head, moves = Signal.like(flight.payload), Signal()
        m.d.comb += [
            beat.ready.eq(1),
            last.eq(beat.valid & beat.payload.last),
            unread.eq(last & (failed | beat.payload.error)),
            lost.eq(unread | last & ~self.enable),
            flight.ready.eq(last),
        ]
        with m.If(burst.valid & burst.ready):
            m.d.sync += burst.valid.eq(0)
        with m.If(beat.valid):
            m.d.sync += [
                failed.eq(~last & (failed | beat.payload.error)),
                entry.payload.bytes.eq(Cat(entry.payload.bytes[8 * WORD_BYTES :], beat.payload.data)),
                entry.payload.queue.eq(flight.payload.queue),
            ]
        m.d.sync += entry.valid.eq(last & ~lost)
        writer = self._writers["sq_head"]
        with m.If(may_write):
            m.d.comb += [writer.addr.eq(head.queue), writer.data.eq(head.head), writer.en.eq(moves)]
            m.d.sync += moves.eq(0)
        with m.If(last & ~lost):
            m.d.sync += [moves.eq(1), head.eq(flight.payload)]

        # A cycle late: no fetch is chosen beside the burst of the one before.
        is_admin = flight.payload.queue == 0
        for count, number, gives, takes in (
            (self._mailbox, 0, is_admin, self._number == 0), (self._buffer, 1, ~is_admin, self._number != 0),
        ):  # fmt: skip
            begun = Signal(name=f"begun{number}")
            m.d.sync += begun.eq(self._begins & takes)
            m.d.sync += count.eq(count + self.taken[number] + (lost & gives) - begun)

    def _post(self, m: Module, unposted):
        """The beats of a completion entry; the vector of one that the host's memory has."""
        burst, beat, answer, report = self.write.aw, self.write.w, self.write.b, self._reports.output
        half = 8 * WORD_BYTES
        m.d.comb += [
            beat.payload.data.eq(Mux(beat.payload.last, self._entry[half:], self._entry[:half])),
            answer.ready.eq(1),
            report.ready.eq(answer.valid),
            self.interrupts.valid.eq(answer.valid & ~answer.payload.error & report.payload.interrupts),
            self.interrupts.payload.eq(report.payload.vector),
        ]
        with m.If(burst.valid & burst.ready):
            m.d.sync += burst.valid.eq(0)
        with m.If(beat.valid & beat.ready):
            m.d.sync += [beat.payload.last.eq(1), beat.valid.eq(~beat.payload.last)]
        m.d.comb += unposted.eq(answer.valid & answer.payload.error)


def _place(base, index, entry_bytes: int):
    """The address of an entry in a queue that begins at a page."""
    return (base << PAGE_BITS) + index * entry_bytes
