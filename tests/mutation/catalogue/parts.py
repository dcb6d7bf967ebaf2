"""Reads of parts of a page: columns, beats, the identity behind them, and the places of the bytes."""

from tests.mutation.fault import Fault

BUS = "rtl/channel/bus/test_bus_controller.py::test_parts[icarus]"
READ = "rtl/datapath/test_read_pipeline.py::test_read_pipeline[verilator-parts]"
ENGINE = "rtl/channel/test_engine.py::test_parts[verilator-parts]"

PARTS = (
    Fault(
        "part-from-the-first-column",
        "channel/bus/bus_controller.py",
        "s.sequencer.column.eq(request.part.before << shift)",
        "s.sequencer.column.eq(0)",
        "a part is taken from the start of its page",
        BUS,
    ),
    Fault(
        "part-from-the-column-of-no-sense",
        "channel/bus/bus_controller.py",
        "with m.If(request.kind.selects | (request.op == BusOp.READ_LAST)):",
        "with m.If(request.kind.selects):",
        "a sense names the first column, and 00h returns to it",
        BUS,
    ),
    Fault(
        "identity-selected-with-a-row",
        "channel/bus/bus_cycles.py",
        "self.next_step.eq(Step.SECOND)",
        "self.next_step.eq(Step.ROW_LOW)",
        "05h is followed by five address cycles",
        BUS,
    ),
    Fault(
        "sensed-by-several-planes",
        "channel/die_agent/reader.py",
        "s.alone.eq(sets.last & ~s.addressing & ~s.cached & ~own)",
        "s.alone.eq(sets.last & ~s.cached & ~own)",
        "00h takes the place of the selection of a plane",
        ENGINE,
    ),
    Fault(
        "part-with-a-beat-too-many",
        "channel/bus/bus_controller.py",
        "beats = 1 << bits_for(self.config.part_bytes) - 1",
        "beats = (1 << bits_for(self.config.part_bytes) - 1) + 1",
        "the bus asks the die for one beat more than the part has",
        BUS,
    ),
    Fault(
        "part-padded-by-a-status",
        "channel/bus/bus_controller.py",
        "lacks = lacks & ends",
        "lacks = lacks | (ends & 0)",
        "a status between a part and its identity ends the page with zeros",
        BUS,
    ),
    Fault(
        "part-from-the-first-word",
        "channel/read_buffer/page_sender.py",
        "sent_word.eq(waiting_part.before << bits)",
        "sent_word.eq(0)",
        "the sender begins at the start of the page buffer",
        ENGINE,
    ),
    Fault(
        "part-with-the-words-of-the-one-before",
        "channel/read_buffer/read_buffer.py",
        "m.d.sync += position.begins.eq(self.fill_begins)",
        "m.d.sync += position.begins.eq(0)",
        "the bytes of a part go behind those of the page before it",
        ENGINE,
    ),
    Fault(
        "part-at-the-start-of-its-block",
        "datapath/read_return.py",
        "first_byte = part.target << bits_for(config.part_bytes)",
        "first_byte = part.before << bits_for(config.part_bytes)",
        "a part goes to its place in the page, not to that of the command",
        READ,
    ),
    Fault(
        "part-with-the-bursts-of-a-page",
        "datapath/read_return.py",
        "last_burst = _last(part, bursts.of_part)",
        "last_burst = bursts.count - 1",
        "as many bursts as a whole page has are announced for a part",
        READ,
    ),
    Fault(
        "part-beyond-the-page",
        "host_if/decode.py",
        "beyond = (parsed.parts_end > self.config.page_parts) | (parsed.blocks != 1)",
        "beyond = parsed.blocks != 1",
        "a part that ends behind its page is accepted",
        "rtl/host_if/test_frontend.py::test_decoder[verilator-tiny_parts]",
    ),
)
