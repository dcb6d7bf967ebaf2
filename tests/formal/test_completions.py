"""Theorem: every accepted command gets exactly one completion.

Of `CommandTracker` with 4 tags and up to 3 events per command: a tag is lent to one command at a time. The
answer to a command is offered until it is taken, once, and at no other time. That begins two clocks after its
last event is taken, or after answer and retirement of the command before are taken if that is later. It
carries the command's cid and port, its result if no event has failed, and the status of its kind if one has.
Its retirement carries its zone, and whether an event of `programmed` has failed. When answer and retirement
are taken the tag may be lent again. `idle` says exactly that no command is between opening and the clock
after its answer and its retirement are taken.

Assumes, as `CommandTracker` asks: openings use lent tags that have no command; a command has at least one
event, and its events come after its opening and no more of them than it said; that an event stays offered
until it is taken; and that the command watched has a cid that no other command in flight has. Answers and
retirements may be refused for any time.

Of `CompletionWriter` with 2 sources: each answer taken makes one burst of one entry, with two beats, the
second one the last, in any order of the ready signals; the entry carries the answer's result, cid and status,
and the DNR of that status.
Nothing is assumed.

Unbounded, by induction.
"""

from dataclasses import replace

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from flashtrain.rtl.host_if.command_tracker import CommandTracker
from flashtrain.rtl.host_if.completion import CompletionWriter
from flashtrain.rtl.layouts import Answer, Opening, Operation
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.places import queue_lemmas, queue_places
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec import Completion, Status
from flashtrain.spec.presets import TINY

CONFIG = replace(TINY, name="proof", commands=4, max_blocks=1)
TAGS = range(CONFIG.commands)


class OneAnswer(Theorem):
    """`lent`, `opened` and `left` tell of each tag what the surroundings know of it."""

    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        opening, answers, retired = design.opening, design.answers, design.retired
        sources = (design.arrived, design.programmed, design.returned)
        lent, opened = Signal(len(TAGS)), Signal(len(TAGS))
        left = [Signal(len(opening.payload.count), name=f"left{tag}") for tag in TAGS]
        # The command whose last event has come, and the one answered.
        coming, answering = Signal(), Signal()
        coming_tag, answered = Signal(range(len(TAGS))), Signal(range(len(TAGS)))
        answer_taken, retired_taken, finished = Signal(), Signal(), Signal()
        m.d.comb += finished.eq(answer_taken & retired_taken)
        m.d.sync += [
            answer_taken.eq((answer_taken | answers.valid & answers.ready) & ~finished),
            retired_taken.eq((retired_taken | retired.valid & retired.ready) & ~finished),
        ]
        with m.If(finished):
            m.d.sync += answering.eq(0)
        with m.If(coming & ~answering):
            m.d.sync += [answering.eq(1), answered.eq(coming_tag), coming.eq(0)]
        for number, source in enumerate(sources):
            refused, offered = Signal(name=f"refused{number}"), Signal.like(Value.cast(source.payload))
            m.d.sync += [refused.eq(source.valid & ~source.ready), offered.eq(source.payload)]
            self.assume(m, ~refused | source.valid & (Value.cast(source.payload) == offered))
        for tag in TAGS:
            lends = design.tags.valid & design.tags.ready & (design.tags.payload == tag)
            opens = opening.valid & (opening.payload.tag == tag)
            offers = [source.valid & (source.payload.tag == tag) for source in sources]
            happens = Cat(offer & source.ready for offer, source in zip(offers, sources, strict=True)).any()
            self.assume(m, ~opens | ((lent[tag] | lends) & ~opened[tag] & (opening.payload.count != 0)))
            self.assume(m, sum(offers) <= Mux(opened[tag], left[tag], 0))
            with m.If(lends):
                m.d.sync += lent[tag].eq(1)
            with m.If(happens):
                m.d.sync += left[tag].eq(left[tag] - 1)
                with m.If(left[tag] == 1):
                    m.d.sync += [coming.eq(1), coming_tag.eq(tag)]
            with m.If(opens & opening.ready):
                m.d.sync += [opened[tag].eq(1), left[tag].eq(opening.payload.count)]
            with m.If(finished & (answered == tag)):
                m.d.sync += [opened[tag].eq(0), lent[tag].eq(0)]
        self.claim(m, ~design.tags.valid | ~lent.bit_select(design.tags.payload, 1))
        self.claim(m, design.idle == ~opened.any())
        self.claim(m, answers.valid == (answering & ~answer_taken))
        self.claim(m, retired.valid == (answering & ~retired_taken))

        # The command watched.
        watched = self.some(m, range(len(TAGS)), "tag")
        failed, program_failed = Signal(), Signal()
        told = Signal(Opening(CONFIG))
        cid = self.some(m, 16, "cid")
        is_watched = opening.payload.tag == watched
        self.assume(m, ~opening.valid | ((opening.payload.cid == cid) == is_watched))
        with m.If(opening.valid & opening.ready & is_watched):
            m.d.sync += [told.eq(opening.payload), failed.eq(0), program_failed.eq(0)]
        for source in sources:
            with m.If(source.valid & source.ready & (source.payload.tag == watched) & source.payload.failed):
                m.d.sync += failed.eq(1)
                if source is design.programmed:
                    m.d.sync += program_failed.eq(1)
        readers = (Operation.READ, Operation.STATISTICS, Operation.INSPECT)
        reads = Cat(told.operation == operation for operation in readers).any()
        failure = Mux(reads, Status.UNRECOVERED_READ_ERROR, Status.WRITE_FAULT)
        is_answer = answers.valid & (answers.payload.cid == cid)
        self.claim(m, is_answer == (answers.valid & (answered == watched)))
        with m.If(is_answer):
            self.claim(m, answers.payload.port == told.port)
            self.claim(m, answers.payload.status == Mux(failed, failure, Status.SUCCESS))
            self.claim(m, answers.payload.result == Mux(failed, 0, told.result))
        with m.If(retired.valid & (answered == watched)):
            self.claim(m, retired.payload.operation == told.operation)
            self.claim(m, retired.payload.zone == told.zone)
            self.claim(m, retired.payload.program_failed == program_failed)
        two = Signal()
        m.d.sync += two.eq(two | (is_answer & answers.ready & failed))
        self.witness(m, is_answer & two & ~failed & opened.all())

        is_answered = [answering & (answered == tag) for tag in TAGS]
        self._memories(m, inside, opened, left, is_answered, watched, told, cid, failed, program_failed)
        for tag in TAGS:
            over = opened[tag] & (left[tag] == 0)
            self.lemma(m, over == (coming & (coming_tag == tag) | is_answered[tag]))
        self.lemma(m, ~(coming & answering & (coming_tag == answered)))
        self.lemma(m, ~answering | ((answers.payload.cid == cid) == (answered == watched)))
        self.lemma(m, answering | ~(answer_taken | retired_taken))
        self._stages(m, inside, opened, coming, coming_tag, answering, answered)
        self._tags(m, inside, lent, opened)

    def _memories(
        self, m: Module, inside: Inside, opened, left, is_answered, watched, told, cid, failed, program_failed
    ) -> None:
        """The memories agree with what was told, but for the opening or event that is not stored yet."""
        valid, is_opening = inside["valid"], inside["is_opening"]
        opening, event = inside["opening"], inside["event"]
        for tag in TAGS:
            counts, command = inside.word(m, "progress", tag), inside.word(m, "commands", tag)
            enters = valid & is_opening & (opening.tag == tag)
            happens = valid & ~is_opening & (event.tag == tag)
            is_taken = happens & inside["is_read"]
            count = Mux(enters, opening.count, counts.count - is_taken)
            number = Mux(enters, opening.cid, command.cid)
            fails = is_taken & event.failed
            has_failed = ~enters & (counts.failed | fails)
            program_has_failed = ~enters & (counts.program_failed | fails & inside["of_program"])
            in_memory = opened[tag] & ~is_answered[tag]
            self.lemma(m, ~in_memory | (count[: len(left[tag])] == left[tag]))
            self.lemma(m, ~happens | (counts.count != 0))
            self.lemma(m, ~in_memory | ((number == cid) == (watched == tag)))
            self.lemma(m, ~(enters | happens) | in_memory)
            with m.If(inside["is_read"] & (enters | happens)):
                self.lemma(m, Value.cast(inside["record"]) == Value.cast(counts))
                self.lemma(m, inside["is_last"] == (counts.count == 1))
                self.lemma(m, Value.cast(inside["command"]) == Value.cast(command))
            with m.If(in_memory & (watched == tag)):
                self.lemma(m, has_failed == failed)
                self.lemma(m, program_has_failed == program_failed)
                for field in ("port", "zone", "operation", "result"):
                    kept = Mux(enters, Value.cast(opening[field]), Value.cast(command[field]))
                    self.lemma(m, kept == Value.cast(told[field]))

    def _stages(self, m: Module, inside: Inside, opened, coming, coming_tag, answering, answered) -> None:
        """An event is taken in the second stage; after its last one a command is in the third."""
        valid, is_read, tag = inside["valid"], inside["is_read"], inside["event"].tag
        self.lemma(m, ~is_read | valid)
        self.lemma(m, ~coming | is_read & ~inside["is_opening"] & (tag == coming_tag))
        sources = (self.design.arrived, self.design.programmed, self.design.returned)
        self.lemma(m, sum(source.ready for source in sources) == (valid & ~inside["is_opening"] & ~is_read))
        for source in sources:
            is_program = source is self.design.programmed
            self.lemma(m, ~source.ready | source.valid & (source.payload.tag == tag))
            self.lemma(m, ~source.ready | (source.payload.failed == inside["event"].failed))
            self.lemma(m, ~source.ready | (inside["of_program"] == is_program))
        self.lemma(
            m, (inside["answering"] == answering) & (~answering | (inside["answered_tag"] == answered))
        )
        self.lemma(m, inside["in_flight"] == sum(opened[number] for number in TAGS))

    def _tags(self, m: Module, inside: Inside, lent, opened) -> None:
        """A tag is fresh, or lent, or waits in the queue of free ones, once."""
        fresh = inside["fresh"]
        queue = inside.part("free")
        queue_lemmas(self, m, queue)
        places = queue_places(m, queue)
        self.lemma(m, fresh <= len(TAGS))
        for tag in TAGS:
            waits = sum(there & (item == tag) for there, item in places)
            self.lemma(m, waits + lent[tag] + (fresh <= tag) == 1)
        self.lemma(m, (opened & ~lent) == 0)
        self.lemma(
            m,
            sum(there for there, _item in places) + sum(lent[tag] for tag in TAGS) + len(TAGS) - fresh
            == len(TAGS),
        )


class OneEntry(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design, axi = self.design, self.design.axi
        held, item = Signal(), Signal(Answer(TINY))
        burst_sent, beats = Signal(), Signal(range(3))
        enters = [source.valid & source.ready for source in design.answers]
        burst, beat = axi.aw.valid & axi.aw.ready, axi.w.valid & axi.w.ready
        finished = held & burst_sent & (beats == 2)
        m.d.sync += [burst_sent.eq((burst_sent | burst) & ~finished), beats.eq(beats + beat)]
        with m.If(finished):
            m.d.sync += [held.eq(0), beats.eq(0)]
        for source, now in zip(design.answers, enters, strict=True):
            with m.If(now):
                self.claim(m, ~held | finished)
                m.d.sync += [held.eq(1), item.eq(source.payload)]
        self.claim(m, sum(enters) <= 1)
        self.claim(m, ~axi.aw.valid | (held & ~burst_sent))
        self.claim(m, ~axi.aw.valid | (axi.aw.payload.length == 1))
        self.claim(m, axi.w.valid == (held & (beats != 2)))
        with m.If(axi.w.valid):

            def field(which) -> Value:
                return axi.w.payload.data[which.low % 64 : which.low % 64 + which.width]

            self.claim(m, axi.w.payload.last == (beats == 1))
            with m.If(beats == 1):
                self.claim(m, field(Completion.cid) == item.cid)
                self.claim(m, field(Completion.status) == item.status)
                final = Signal(init=1)
                for retried in (Status.SUCCESS, 0x004, 0x082, 0x280):
                    with m.If(item.status == retried):
                        m.d.comb += final.eq(0)
                self.claim(m, field(Completion.do_not_retry) == final)
            with m.Else():
                self.claim(m, axi.w.payload.data == item.result)
        self.witness(m, finished & (item.status != 0))

        merged = inside.part("merge").unit.output
        self.lemma(m, merged.valid == held)
        self.lemma(m, ~held | (Value.cast(merged.payload) == Value.cast(item)))
        self.lemma(m, inside["burst_sent"] == burst_sent)
        self.lemma(m, inside["beats_sent"] == (beats == 2))
        self.lemma(m, inside["second"] == (beats == 1))
        self.lemma(m, held | ((beats == 0) & ~burst_sent))
        self.lemma(m, beats < 3)


def test_one_answer() -> None:
    prove(OneAnswer(CommandTracker(CONFIG)), depth=4)


def test_commands_come_and_go() -> None:
    reach(OneAnswer(CommandTracker(CONFIG)), depth=28)


def test_answer_before_the_last_event() -> None:
    faulty = planted(
        CommandTracker,
        ("(count_read.data.count == amount)", "(count_read.data.count <= amount + 1)"),
    )
    refute(OneAnswer(faulty(CONFIG)), depth=12)


def test_bus_error_taken_for_a_program() -> None:
    change = ("record.program_failed | (event.failed & of_program)", "failed")
    refute(OneAnswer(planted(CommandTracker, change)(CONFIG)), depth=12)


def test_answered_again_while_retirement_waits() -> None:
    change = ("with m.If(self.answers.ready):", "with m.If(self.answers.ready & self.retired.ready):")
    refute(OneAnswer(planted(CommandTracker, change)(CONFIG)), depth=12)


def test_tag_lent_while_the_answer_waits() -> None:
    change = ("returned_tag=answered_tag, returned=ended", "returned_tag=tag, returned=done")
    refute(OneAnswer(planted(CommandTracker, change)(CONFIG)), depth=16)


def test_one_entry() -> None:
    prove(OneEntry(CompletionWriter(CONFIG, 2)), depth=3)


def test_entries_are_written() -> None:
    reach(OneEntry(CompletionWriter(CONFIG, 2)), depth=12)


def test_answer_sent_with_the_burst() -> None:
    """The answer is let go when the burst is, whatever beats are left."""
    change = ("done.eq(burst_sent & beats_sent)", "done.eq(burst_sent)")
    refute(OneEntry(planted(CompletionWriter, change)(CONFIG, 2)), depth=12)
