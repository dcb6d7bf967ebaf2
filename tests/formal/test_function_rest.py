"""Theorem: a function that is disabled and at rest touches no memory.

In every cycle:

- Of `QueueEngine` with one I/O queue pair: with `enable` 0 no burst begins. With `running` 0 as well there is
  none, of entries or of completions, whatever doorbells, changes and answers come.
- Of `AdminMailbox`: with `idle` there is no burst. Once it is idle with `enabled` 0, none begins before
  `enabled` is 1, whatever its firmware does.
- Of `IoBuffer` with one pair: a data pointer goes to the walker only for a command that was begun with
  `enable` 1. The walker reads memory for no other reason (`test_function_queues.py`).

Assumes that the engine is enabled anew after it has stopped, as `Properties` has it.
"""

import pytest
from amaranth.hdl import Module, Signal

from flashtrain.rtl.pcie.admin_mailbox import AdminMailbox
from flashtrain.rtl.pcie.io_buffer import IoBuffer
from flashtrain.rtl.pcie.queue_engine import Job, QueueEngine
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem

BLOCK_BYTES, MOST_BYTES = 512, 1 << 12
DEPTH, REACHED = 3, 20


class EngineRests(Theorem):
    """`stopping` follows an end of `enable` until `running` has fallen."""

    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        stopping, was_enabled = Signal(), Signal()
        m.d.sync += [stopping.eq(design.running & (stopping | ~design.enable)), was_enabled.eq(design.enable)]
        self.assume(m, ~stopping | ~design.enable)
        for burst in (design.read.ar, design.write.aw, design.write.w):
            was_there = Signal()
            m.d.sync += was_there.eq(burst.valid)
            self.claim(m, ~burst.valid | was_there | was_enabled)
            self.claim(m, ~burst.valid | design.running)
            self.witness(m, burst.valid & ~design.enable)
        # Before it runs, only the admin queues are made.
        resting = inside.ongoing("CHOOSE")
        own = (design._job == Job.CHANGE) & (design._step != 2)
        self.lemma(m, inside.legal())
        self.lemma(m, design.running | resting | own)
        self.lemma(m, design._step != 3)


class MailboxRests(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        rested, changed = Signal(), Signal()
        bursts = design.read.ar.valid | design.write.aw.valid | design.write.w.valid
        m.d.sync += rested.eq(~design.enabled & (rested | design.idle))
        m.d.sync += changed.eq(rested & (changed | design.changes.valid))
        self.claim(m, ~(design.idle | rested) | ~bursts)
        self.witness(m, bursts & ~design.enabled)
        self.witness(m, rested & design.idle & changed)
        any_open, open_ = inside["any_open"], design._open
        fifo = design._waiting
        for machine in ("serve", "work"):
            self.lemma(m, inside.legal(machine))
        self.lemma(m, ~fifo.output.valid | (fifo.level != 0))
        self.lemma(m, any_open | (open_ == 0) | inside.ongoing("COPY", fsm="work"))
        nothing = ~any_open & (open_ == 0) & inside.ongoing("REST", "CHANGE", fsm="work")
        self.lemma(m, ~(design.idle | rested) | nothing)


class BufferBegins(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        enabled, was_there = Signal(2), Signal()
        m.d.sync += [enabled.eq(design.enable << 1 | enabled >> 1), was_there.eq(design.pointers.valid)]
        self.claim(m, ~design.pointers.valid | was_there | enabled[0])
        self.witness(m, design.pointers.valid & ~design.enable & ~enabled[1])
        self.lemma(m, inside.legal())


def engine(*changes: tuple[str, str]) -> EngineRests:
    return EngineRests((planted(QueueEngine, *changes) if changes else QueueEngine)(1))


def mailbox(*changes: tuple[str, str]) -> MailboxRests:
    return MailboxRests((planted(AdminMailbox, *changes) if changes else AdminMailbox)())


def buffer(*changes: tuple[str, str]) -> BufferBegins:
    return BufferBegins((planted(IoBuffer, *changes) if changes else IoBuffer)(1, BLOCK_BYTES, MOST_BYTES))


def test_the_engine_rests() -> None:
    prove(engine(), depth=DEPTH)


def test_the_mailbox_rests() -> None:
    prove(mailbox(), depth=DEPTH)


def test_the_buffer_begins_nothing() -> None:
    prove(buffer(), depth=DEPTH)


def test_the_engine_works() -> None:
    reach(engine(), depth=REACHED)


def test_the_mailbox_works() -> None:
    reach(mailbox(), depth=REACHED)


def test_the_buffer_works() -> None:
    reach(buffer(), depth=REACHED)


def test_an_engine_that_stops_before_its_burst() -> None:
    change = ("quiet = idle & ~bursts & ", "quiet = idle & ")
    refute(engine(change), depth=REACHED)


@pytest.mark.long
def test_a_fetch_after_the_end() -> None:
    change = ("begins.eq(self.enable & self._sq_is_open", "begins.eq(self._sq_is_open")
    refute(engine(change), depth=REACHED)


@pytest.mark.long
def test_a_burst_of_the_firmware_at_rest() -> None:
    change = ("with m.If(any_open):", "with m.If(1):")
    refute(mailbox(change), depth=REACHED)


def test_a_pointer_without_the_enable() -> None:
    change = ("with m.If(item.valid & self.enable):", "with m.If(item.valid):")
    refute(buffer(change), depth=REACHED)


def test_an_answer_to_no_command() -> None:
    """It would count as one less than none that are open, so the next burst begins."""
    change = (
        "self._posts.eq(writes[Mailbox.ANSWER] & free & any_open)",
        "self._posts.eq(writes[Mailbox.ANSWER] & free)",
    )
    refute(mailbox(change), depth=REACHED)
