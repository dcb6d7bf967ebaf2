"""Theorem: the function on PCI Express posts no completion without a command, and loses none.

Of `QueueEngine` with one I/O queue pair beside the admin queues, in the first cycles after its start:

- Each answer taken while the engine is enabled has one burst, and each burst an answer. But an answer for a
  completion queue that does not exist has none. The burst is at the place behind the last one of its queue,
  round the end; its phase changes there, and begins with 1. Its beats have the answer's fields.
- A fetch is of a submission queue that exists, while the engine is enabled. It is at the place behind the
  last one of its queue, and each entry delivered is of a fetch.

Assumes that the engine is enabled anew after it has stopped, that changes and answers are of numbers that
exist, that offers stay, and that the host's memory answers only what was asked.

Of `PointerWalker` with one command of up to 8 KiB, with PRPs of 4 KiB or an SGL, in the first cycles: the
pieces add up to its length and never pass it, and the last one is marked. None of PRPs crosses a page. Memory
is read for a list or a segment only.

Bounded. The I/O queues are those of an engine that begins without the start of its admin queues.
"""

import pytest
from amaranth.hdl import Array, Module, Mux, Signal, Value

from flashtrain.rtl.pcie.layouts import INDEX_BITS, ChangeKind
from flashtrain.rtl.pcie.pointer_walker import PointerWalker
from flashtrain.rtl.pcie.queue_engine import QueueEngine
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import check, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec import Completion, Submission
from flashtrain.spec.pcie import PAGE_BITS

PAIRS = range(2)
MOST_ENTRIES, MOST_ADDRESS = 4, 1 << 16
"""Of queues; with more the solver takes longer."""
ADMIN_CYCLES, CYCLES, WALK_CYCLES, SGL_CYCLES = 19, 22, 24, 14
"""The admin queues are there after 10 cycles, I/O queues after 8. Jobs take 4 of them."""


class OneCompletion(Theorem):
    """`base`, `size`, `place` and `phase` are the model of the queues.

    started: the design begins when the admin queues should have been made, and has none.
    """

    def __init__(self, design: QueueEngine, started: bool = False):
        super().__init__(design)
        self.started = started

    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        enable, running = design.enable, design.running
        stopping = Signal()
        m.d.sync += stopping.eq(running & (stopping | ~enable))
        self.assume(m, ~stopping | ~enable)
        steady = Signal.like(Value.cast(design.admin))
        begun = Signal()
        m.d.sync += [steady.eq(Value.cast(design.admin)), begun.eq(1)]
        self.assume(m, ~begun | (steady == Value.cast(design.admin)))
        for size in (design.admin.sq_size, design.admin.cq_size, design.changes.payload.size):
            self.assume(m, (size != 0) & (size < MOST_ENTRIES))
        for base in (design.admin.sq_base, design.admin.cq_base, design.changes.payload.base):
            self.assume(m, base < MOST_ADDRESS)
        if self.started:
            ended = Signal()
            m.d.sync += ended.eq(ended | ~enable)
            self.assume(m, enable & (begun | design.changes.valid) | ended)
            self.assume(m, ~ended | ~enable)
        for stream in (design.changes, design.doorbells, design.answers, design.admin_answers):
            self.keeps_offers(m, stream)
        change = design.changes.payload
        of_submissions = (change.kind == ChangeKind.CREATE_SUBMISSIONS) & (change.partner != 1)
        self.assume(m, (change.queue == 1) & ~of_submissions)
        self.assume(m, (design.answers.payload.queue == 1) & (design.admin_answers.payload.queue == 0))

        jobs = inside.part("flights").unit.input
        self._completions(m, change)
        self._fetches(m, change, jobs)

    def _completions(self, m: Module, change) -> None:
        design = self.design
        enable, burst, beat = design.enable, design.write.aw, design.write.w
        made = design.changes.valid & design.changes.ready & enable
        exists = Signal(2)
        base, size, place = (
            Array(Signal(64, name=f"{name}{one}") for one in PAIRS) for name in ("base", "size", "place")
        )
        phase = Array(Signal(init=1, name=f"phase{one}") for one in PAIRS)
        with m.If(made & (change.kind == ChangeKind.CREATE_COMPLETIONS)):
            m.d.sync += [base[1].eq(change.base), size[1].eq(change.size), place[1].eq(0), phase[1].eq(1)]
            m.d.sync += exists[1].eq(1)
        with m.If(made & (change.kind == ChangeKind.DELETE_COMPLETIONS)):
            m.d.sync += exists[1].eq(0)
        with m.If(~enable):
            m.d.sync += [exists.eq(0), place[0].eq(0), phase[0].eq(1)]
        with m.Elif(design.running):
            m.d.sync += exists[0].eq(not self.started)
        taken = [source.valid & source.ready for source in (design.admin_answers, design.answers)]
        self.claim(m, ~(taken[0] & taken[1] & enable))
        of_admin = Signal()
        answer = Signal.like(Value.cast(design.answers.payload))
        due = Signal()
        m.d.comb += of_admin.eq(taken[0])
        number = Mux(of_admin, 0, 1)
        posts = Signal()
        m.d.comb += posts.eq(enable & (taken[0] & exists[0] | taken[1] & exists[1]))
        bases = Mux(of_admin, design.admin.cq_base, base[1])
        sizes = Mux(of_admin, design.admin.cq_size, size[1])
        address, expected_phase = Signal(64), Signal()
        m.d.sync += due.eq(posts)
        # Answers are of commands, and those of a queue.
        known = Signal()
        m.d.sync += known.eq(enable & (known | made & (change.kind == ChangeKind.CREATE_SUBMISSIONS)))
        self.assume(m, ~design.answers.valid | known | ~enable)
        with m.If(posts):
            m.d.sync += [
                answer.eq(
                    Mux(
                        of_admin, Value.cast(design.admin_answers.payload), Value.cast(design.answers.payload)
                    )
                ),
                address.eq((bases >> PAGE_BITS << PAGE_BITS) + place[number] * Completion.BYTES),
                expected_phase.eq(phase[number]),
                place[number].eq(Mux(place[number] == sizes, 0, place[number] + 1)),
                phase[number].eq(phase[number] ^ (place[number] == sizes)),
            ]
        was_burst, was_taken = Signal(), Signal()
        m.d.sync += [was_burst.eq(burst.valid), was_taken.eq(burst.ready)]
        begins = burst.valid & (~was_burst | was_taken)
        self.claim(m, begins == due)
        self.claim(m, ~burst.valid | (burst.payload.address == address))
        layout = type(design.answers.payload.shape())()
        fields = {
            name: Value.cast(layout(answer)[name]) for name in ("result", "cid", "status", "do_not_retry")
        }
        half = beat.payload.data
        self.claim(m, ~beat.valid | beat.payload.last | (half == fields["result"]))
        cid = Completion.cid.low - 64
        self.claim(
            m,
            ~(beat.valid & beat.payload.last)
            | (
                (half[cid : cid + 16] == fields["cid"])
                & (half[Completion.phase.low - 64] == expected_phase)
                & (half[Completion.status.low - 64 :][:11] == fields["status"])
                & (half[Completion.do_not_retry.low - 64] == fields["do_not_retry"])
            ),
        )
        self.witness(m, beat.valid & beat.payload.last & (place[int(self.started)] == 2))

    def _fetches(self, m: Module, change, flight) -> None:
        design = self.design
        enable, burst = design.enable, design.read.ar
        made = design.changes.valid & design.changes.ready & enable
        exists, base, size, place = (
            Signal(2),
            Signal(64),
            Signal(INDEX_BITS),
            Array(Signal(64, name=f"next{one}") for one in PAIRS),
        )
        with m.If(made & (change.kind == ChangeKind.CREATE_SUBMISSIONS)):
            m.d.sync += [base.eq(change.base), size.eq(change.size), place[1].eq(0), exists[1].eq(1)]
        with m.If(made & (change.kind == ChangeKind.DELETE_SUBMISSIONS)):
            m.d.sync += exists[1].eq(0)
        with m.If(~enable):
            m.d.sync += [exists.eq(0), place[0].eq(0)]
        with m.Elif(design.running):
            m.d.sync += exists[0].eq(not self.started)
        begins, number = flight.valid & flight.ready, flight.payload.queue
        of_admin = number == 0
        self.claim(m, ~begins | enable & Mux(of_admin, exists[0], (number == 1) & exists[1]))
        address = Signal(64)
        bases = Mux(of_admin, design.admin.sq_base, base)
        sizes = Mux(of_admin, design.admin.sq_size, size)
        began, was_burst, was_taken = Signal(), Signal(), Signal()
        m.d.sync += [began.eq(begins), was_burst.eq(burst.valid), was_taken.eq(burst.ready)]
        with m.If(begins):
            m.d.sync += [
                address.eq((bases >> PAGE_BITS << PAGE_BITS) + place[number[0]] * Submission.BYTES),
                place[number[0]].eq(Mux(place[number[0]] == sizes, 0, place[number[0]] + 1)),
            ]
        self.claim(m, (burst.valid & (~was_burst | was_taken)) == began)
        self.claim(m, ~burst.valid | (burst.payload.address == address))
        # Beats: eight for each burst that was taken.
        beats, beat, left = Signal(8), Signal(3), Signal(4)
        taken = burst.valid & burst.ready
        r = design.read.r
        m.d.sync += beats.eq(beats + (taken << 3) - r.valid)
        m.d.sync += beat.eq(beat + r.valid)
        self.assume(m, ~r.valid | (beats != 0))
        self.assume(m, r.payload.last == (beat == 7))
        m.d.sync += left.eq(left + begins - (r.valid & r.payload.last))
        arrived = Signal()
        m.d.sync += arrived.eq(r.valid & r.payload.last)
        self.claim(m, ~design.entries.valid | arrived)
        self.witness(m, taken & (place[int(self.started)] == 1))


class WithinLength(Theorem):
    """`taken` has the bytes of the command, and `given` those of its pieces so far. sgl: it has an SGL."""

    def __init__(self, design: PointerWalker, sgl: bool = False):
        super().__init__(design)
        self.sgl = sgl

    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        pointers, piece, read = design.pointers, design.pieces, design.read
        self.keeps_offers(m, pointers)
        length = pointers.payload.length
        self.assume(m, (length != 0) & (length <= design.most_bytes))
        self.assume(m, design.page_exponent == 0)
        # One command at once, and few bits of addresses, or the solver takes long.
        once = Signal()
        m.d.sync += once.eq(once | pointers.valid & pointers.ready)
        self.assume(m, pointers.valid == ~once)
        second = Value.cast(pointers.payload.second)
        self.assume(m, Value.cast(pointers.payload.first)[16:] == 0)
        self.assume(m, (second[16:60] if self.sgl else second[16:]) == 0)
        few = Value.cast(read.r.payload.data)
        self.assume(m, (few[16:60] if self.sgl else few[16:]) == 0)
        due = Signal(16)
        r, burst = read.r, read.ar
        m.d.sync += due.eq(due + Mux(burst.valid & burst.ready, burst.payload.length + 1, 0) - r.valid)
        self.assume(m, ~r.valid | (due != 0))
        is_sgl = Signal()
        with m.If(pointers.valid & pointers.ready):
            m.d.sync += is_sgl.eq(pointers.payload.sgl)
        if self.sgl:  # of dwords, as the buffer gives it
            self.assume(m, pointers.payload.sgl & (length[:2] == 0))
        else:
            self.assume(m, ~pointers.payload.sgl)

        taken, given, over = Signal(length.shape()), Signal(32), Signal()
        enters, leaves = pointers.valid & pointers.ready, piece.valid & piece.ready
        with m.If(enters):
            m.d.sync += taken.eq(length)
        m.d.sync += over.eq(over | leaves & piece.payload.last)
        good = piece.valid & (piece.payload.status == 0)
        reaches = given + piece.payload.length
        self.claim(m, ~piece.valid | once & ~over)
        self.claim(m, ~good | (reaches <= taken))
        self.claim(m, ~good | (piece.payload.last == (reaches == taken)))
        self.claim(m, ~piece.valid | good | piece.payload.last & (given == 0))
        self.claim(m, ~good | (piece.payload.length != 0))
        offset = piece.payload.address[:PAGE_BITS]
        self.claim(m, ~good | is_sgl | (offset + piece.payload.length <= 1 << PAGE_BITS))
        self.claim(m, ~good | (piece.payload.sgl == is_sgl))
        with m.If(leaves):
            m.d.sync += given.eq(reaches)
        self.claim(m, ~burst.valid | is_sgl | (taken > 1 << PAGE_BITS))
        several = given > 0 if self.sgl else given > 1 << PAGE_BITS
        self.witness(m, good & piece.payload.last & several)


STARTED = ("self._up, self._step = Signal(), Signal(2)", "self._up, self._step = Signal(), Signal(2, init=2)")


def engine(*changes: tuple[str, str], started: bool = False) -> OneCompletion:
    changes = (*changes, STARTED) if started else changes
    return OneCompletion((planted(QueueEngine, *changes) if changes else QueueEngine)(1), started)


def walker(*changes: tuple[str, str], sgl: bool = False) -> WithinLength:
    return WithinLength((planted(PointerWalker, *changes) if changes else PointerWalker)(1 << 13, 3), sgl)


@pytest.mark.long
def test_admin_queues_hold() -> None:
    """It takes 30 s of a core."""
    check(engine(), depth=ADMIN_CYCLES)


@pytest.mark.long
def test_admin_queues_work() -> None:
    reach(engine(), depth=ADMIN_CYCLES + 7)


def test_queues_hold() -> None:
    check(engine(started=True), depth=CYCLES)


def test_queues_work() -> None:
    reach(engine(started=True), depth=CYCLES)


def test_walker_holds() -> None:
    check(walker(), depth=WALK_CYCLES)


def test_walker_works() -> None:
    reach(walker(), depth=WALK_CYCLES + 4)


def test_walker_holds_with_an_sgl() -> None:
    check(walker(sgl=True), depth=SGL_CYCLES)


def test_a_first_phase_of_zero() -> None:
    change = ('self._write(m, "cq_tail", 1 << INDEX_BITS)', 'self._write(m, "cq_tail", 0)')
    refute(engine(change, started=True), depth=CYCLES)


def test_an_entry_for_a_queue_that_does_not_exist() -> None:
    change = ("posts.eq(self.enable & self._cq_is_open & ~full)", "posts.eq(self.enable & ~full)")
    refute(engine(change, started=True), depth=CYCLES)


def test_a_last_piece_that_is_a_whole_page() -> None:
    change = ("Mux(left <= size, left, size)", "size")
    refute(walker(change), depth=WALK_CYCLES)


def test_a_block_that_passes_the_data() -> None:
    changes = (
        ("Mux(left <= size, left, size)", "size"),
        ("writer.data.length.eq(left >> DWORD_SHIFT)", "writer.data.length.eq(row.length)"),
    )
    refute(walker(*changes, sgl=True), depth=SGL_CYCLES)
