"""The command tracker: tags, outstanding events and answers of the commands in flight."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import (
    LBA_BITS,
    STREAM_BITS,
    Answer,
    Opening,
    Operation,
    PageEvent,
    ReadEffort,
    Retired,
    ReturnedPage,
    Settled,
    coded,
)
from flashtrain.rtl.lib.streams import Queue, RoundRobin
from flashtrain.spec import Completion, FmsConfig, Status

from .stopwatch import Span


class TrackedCommand(data.StructLayout):
    """The fields of a command that are stored until its answer."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "port": 1,
            "cid": 16,
            "stream": STREAM_BITS,
            "source": STREAM_BITS,
            "zone": config.geometry.zone_bits,
            "operation": Operation,
            "result": LBA_BITS,
        })  # fmt: skip


class CommandTracker(wiring.Component):
    """Counts the outstanding events of each command, and answers it after the last one.

    A command with a failed event is answered with a result of 0. Its status is UNRECOVERED_READ_ERROR for
    reads, statistics and inspections, else WRITE_FAULT. The result of a READ is the greatest effort of one
    of its pages. The answer frees the tag. Only `retired` carries whether an event of `programmed` failed.

    With a codec the end of an encoded append brings its place and length. It stands for the programs of the
    slack, too. A READ of which the codec refused a page, and of which none failed, has CODED_PAGE_ERROR.

    Latency: 3 cycles from the last event to the answer. Throughput: one opening or event in 2 cycles;
    openings come first, events in turn. All stall while an answer is due and the one before is not taken.
    Openings precede the events of their tag.

    Members
    -------
    tags : Out(stream(tag_bits))         tags that are free
    opening : In(stream(Opening))        a command enters
    arrived : In(stream(PageEvent))      a page is in SRAM: from the write pipeline
    programmed : In(stream(PageEvent))   a page is programmed, a tile updated and programmed, a die has its
      constants: from the channels
    returned : In(stream(ReturnedPage))  a page is in the tensor buffer: from the read pipeline
    settled : In(stream(Settled))        with a codec: an append is encoded
    answers : Out(stream(Answer))
    retired : Out(stream(Retired))       a command has been answered
    span : Out(Span)                     openings and answers, for the stopwatch
    reading : Out(1)                     a read is in flight
    idle : Out(1)                        no command is in flight
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        event = stream.Signature(PageEvent(config))
        super().__init__({
            "tags": Out(stream.Signature(config.tag_bits)),
            "opening": In(stream.Signature(Opening(config))),
            "arrived": In(event),
            "programmed": In(event),
            "returned": In(stream.Signature(ReturnedPage(config))),
            **coded(config, {"settled": In(stream.Signature(Settled(config)))}),
            "answers": Out(stream.Signature(Answer(config))),
            "retired": Out(stream.Signature(Retired(config))),
            "span": Out(Span(config)),
            "reading": Out(1),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config = self.config
        count_bits = len(self.opening.payload.count)
        progress = data.StructLayout({
            "count": count_bits,
            "failed": 1,
            "program_failed": 1,
            "effort": ReadEffort(config),
            **coded(config, {
                "refused": 1,
                "offset": config.geometry.zone_size_bits,
                "stored": config.count_bits,
            }),
        })  # fmt: skip
        m.submodules.progress = counts = Memory(shape=progress, depth=config.commands, init=[])
        m.submodules.commands = commands = Memory(
            shape=TrackedCommand(config), depth=config.commands, init=[]
        )
        count_read, count_write = counts.read_port(domain="comb"), counts.write_port()
        command_read, command_write = commands.read_port(domain="comb"), commands.write_port()

        # First stage: one opening or event is chosen.
        advance = Signal()
        valid, is_opening, of_program = Signal(), Signal(), Signal()
        opening, event = Signal(Opening(config)), Signal(PageEvent(config))
        effort = Signal(ReadEffort(config))
        chosen = self._choose(m, advance, valid, is_opening, of_program, opening, event, effort)

        # Second stage: its record is read. Third: it is stored anew, or its last event makes the answer,
        # which holds the command's tag until it is taken.
        record, command, is_read = Signal(progress), Signal(TrackedCommand(config)), Signal()
        left = Signal(count_bits)
        failed, program_failed = Signal(), Signal()
        is_last, last, done, ended = Signal(), Signal(), Signal(), Signal()
        answering, answered_tag = Signal(), Signal(config.tag_bits)
        readers = (Operation.READ, Operation.STATISTICS, Operation.INSPECT)
        reads = Cat(command.operation == operation for operation in readers).any()
        failure = Mux(reads, Status.UNRECOVERED_READ_ERROR, Status.WRITE_FAULT)
        amount, refused, place = Const(1), Const(0), Const(0)
        if config.codec:
            amount, refused, place = self._follow_codec(
                m, advance, chosen, is_opening, record, count_write.data
            )
        tag = Mux(is_opening, opening.tag, event.tag)
        effort_result = Signal(LBA_BITS)  # of a read
        for name, value in effort.shape():
            before, most = record.effort[name], Signal(value.shape, name=f"most_{name}")
            m.d.comb += [
                most.eq(Mux(before > effort[name], before, effort[name])),
                count_write.data.effort[name].eq(Mux(is_opening, 0, most)),
            ]
            with m.If(command.operation == Operation.READ):
                m.d.comb += effort_result[getattr(Completion, name).within(Completion.result)].eq(most)
        m.d.comb += [
            count_read.addr.eq(tag),
            count_write.addr.eq(tag),
            command_read.addr.eq(tag),
            command_write.addr.eq(tag),
            left.eq(record.count - amount),
            failed.eq(record.failed | event.failed),
            program_failed.eq(record.program_failed | (event.failed & of_program)),
            last.eq(is_read & ~is_opening & is_last),
            done.eq(last & ~answering),
            ended.eq(answering & ~self.answers.valid & ~self.retired.valid),
            advance.eq(~valid | is_read & ~(last & answering)),
            command_write.en.eq(is_read & is_opening),
            command_write.data.port.eq(opening.port),
            command_write.data.cid.eq(opening.cid),
            command_write.data.stream.eq(opening.stream),
            command_write.data.source.eq(opening.source),
            command_write.data.zone.eq(opening.zone),
            command_write.data.operation.eq(opening.operation),
            command_write.data.result.eq(opening.result),
            count_write.en.eq(is_read & ~last),
            count_write.data.count.eq(Mux(is_opening, opening.count, left)),
            count_write.data.failed.eq(~is_opening & failed),
            count_write.data.program_failed.eq(~is_opening & program_failed),
        ]
        m.d.sync += [
            is_read.eq(valid & ~advance),
            record.eq(count_read.data),
            is_last.eq(count_read.data.count == amount),
            command.eq(command_read.data),
        ]
        with m.If(self.answers.ready):
            m.d.sync += self.answers.valid.eq(0)
        with m.If(self.retired.ready):
            m.d.sync += self.retired.valid.eq(0)
        with m.If(ended):
            m.d.sync += answering.eq(0)
        with m.If(done):
            m.d.sync += [
                answering.eq(1),
                answered_tag.eq(tag),
                self.answers.valid.eq(1),
                self.answers.payload.port.eq(command.port),
                self.answers.payload.cid.eq(command.cid),
                self.answers.payload.status.eq(
                    Mux(failed, failure, Mux(refused, Status.CODED_PAGE_ERROR, Status.SUCCESS))
                ),
                self.answers.payload.result.eq(
                    Mux(failed | refused, 0, command.result | effort_result | place)
                ),
                self.retired.valid.eq(1),
                self.retired.payload.stream.eq(command.stream),
                self.retired.payload.source.eq(command.source),
                self.retired.payload.zone.eq(command.zone),
                self.retired.payload.operation.eq(command.operation),
                self.retired.payload.program_failed.eq(program_failed),
            ]
        self._lend_tags(m, returned_tag=answered_tag, returned=ended)

        in_flight = Signal(range(config.commands + 1))
        reads = Signal(range(config.commands + 1))
        entered = Signal()
        m.d.comb += [
            entered.eq(self.opening.valid & self.opening.ready),
            self.idle.eq(in_flight == 0),
            self.reading.eq(reads != 0),
            self.span.begins.eq(is_read & is_opening),
            self.span.ends.eq(done),
            self.span.append.eq(
                (command.operation == Operation.APPEND) | (command.operation == Operation.WRITE)
            ),
            self.span.read.eq(command.operation == Operation.READ),
            self.span.tag.eq(tag),
        ]
        read_begins, read_ends = Signal(), Signal()
        m.d.sync += [
            in_flight.eq(in_flight + entered - ended),
            read_begins.eq(self.span.begins & (opening.operation == Operation.READ)),
            read_ends.eq(self.span.ends & self.span.read),
            reads.eq(reads + read_begins - read_ends),
        ]
        return m

    def _choose(self, m: Module, advance, valid, is_opening, of_program, opening, event, effort):
        """Choose an opening, or else an event; one-hot, the order is opening, events."""
        events = (self.arrived, self.programmed, self.returned)
        if self.config.codec:
            events = (*events, self.settled)
        m.submodules.turn = turn = RoundRobin(len(events))
        opens, happens = self.opening.valid, turn.requests.any() & ~self.opening.valid
        chosen = Cat(opens, turn.chosen & (~opens).replicate(len(events)))
        m.d.comb += [
            turn.requests.eq(Cat(event.valid for event in events)),
            turn.advance.eq(advance & happens),
            self.opening.ready.eq(advance),
        ]
        # An event leaves its stream a cycle after it was chosen, in which none is chosen.
        for source, is_chosen in zip(events, chosen[1:], strict=True):
            m.d.sync += source.ready.eq(advance & is_chosen)
        with m.If(advance):
            m.d.sync += [
                valid.eq(opens | happens),
                is_opening.eq(opens),
                opening.eq(self.opening.payload),
                effort.eq(Mux(chosen[3], self.returned.payload.effort, 0)),
            ]
            for number, source in enumerate(events, 1):
                with m.If(chosen[number]):
                    m.d.sync += [
                        event.tag.eq(source.payload.tag),
                        event.failed.eq(source.payload.failed),
                        of_program.eq(source is self.programmed),
                    ]
        return chosen

    def _follow_codec(self, m: Module, advance, chosen, is_opening, before, after):
        """Three values of the chosen event's command.

        - the number of events that this one stands for
        - whether the codec has refused a page
        - what the end of an encoded append adds to the result
        """
        settled, settles, refused = Signal(Settled(self.config)), Signal(), Signal()
        with m.If(advance):
            m.d.sync += [
                settled.eq(self.settled.payload),
                settles.eq(chosen[4]),
                refused.eq(chosen[3] & self.returned.payload.refused),
            ]
        slack = Mux(settled.non_volatile, settled.slack, 0)
        m.d.comb += [
            after.refused.eq(~is_opening & (before.refused | refused)),
            after.offset.eq(Mux(settles, settled.offset, Mux(is_opening, 0, before.offset))),
            after.stored.eq(Mux(settles, settled.stored, Mux(is_opening, 0, before.stored))),
        ]
        place = Signal(Completion.stored.low - Completion.result.low + Completion.stored.width)
        m.d.comb += [
            place[: len(after.offset)].eq(after.offset),
            place[Completion.stored.within(Completion.result)].eq(after.stored),
        ]
        return Mux(settles, slack + 1, 1), after.refused, place

    def _lend_tags(self, m: Module, returned_tag, returned):
        """Tags come in their order at first, then as they are returned."""
        config = self.config
        m.submodules.free = free = Queue(config.tag_bits, config.commands)
        fresh = Signal(range(config.commands + 1))
        use_fresh = fresh != config.commands
        m.d.comb += [
            free.input.valid.eq(returned),
            free.input.payload.eq(returned_tag),
            self.tags.valid.eq(use_fresh | free.output.valid),
            self.tags.payload.eq(Mux(use_fresh, fresh, free.output.payload)),
            free.output.ready.eq(~use_fresh & self.tags.ready),
        ]
        with m.If(use_fresh & self.tags.ready):
            m.d.sync += fresh.eq(fresh + 1)
