"""The function on PCI Express: its rest, its turns, and the lengths of commands."""

from tests.mutation.fault import Fault

FUNCTION = "rtl/pcie/test_pcie.py::test_function"
TRANSLATOR = "rtl/pcie/test_pcie.py::test_command_translator"

PCIE = (
    Fault(
        "idle-before-the-last-entry",
        "pcie/function.py",
        "~idle | engine.entries.valid | registers.messages.valid",
        "~idle | registers.messages.valid",
        "CSTS.RDY falls a cycle before the last entry is counted, and rises again",
        FUNCTION,
    ),
    Fault(
        "page-size-of-the-next-start",
        "pcie/function.py",
        "with m.If(~self.running):\n            m.d.sync += exponent",
        "with m.If(1):\n            m.d.sync += exponent",
        "CC.MPS that is written with CC.EN = 0 changes the lists of commands under way",
        FUNCTION,
    ),
    Fault(
        "firmware-writes-at-rest",
        "pcie/admin_mailbox.py",
        "m.d.sync += self._failed.eq(~any_open)\n                    with m.If(any_open):",
        "m.d.sync += self._failed.eq(0)\n                    with m.If(1):",
        "a burst of the firmware touches the memory of a controller that is disabled",
        FUNCTION,
    ),
    Fault(
        "dropped-commands-stay-open",
        "pcie/io_buffer.py",
        "(dropped, front),",
        "(dropped & 0, front),",
        "a command that was dropped has no end, and CSTS.RDY stays",
        FUNCTION,
    ),
    Fault(
        "answers-are-not-counted",
        "pcie/io_buffer.py",
        "writer.data.eq(Mux(more, reader.data + 1, reader.data - 1))",
        "writer.data.eq(Mux(more, reader.data + 1, reader.data))",
        "a deleted queue waits for commands that have their answers",
        FUNCTION,
    ),
    Fault(
        "one-block-too-many",
        "pcie/io_buffer.py",
        "blocks < self.most_bytes >> self.block_shift",
        "blocks <= self.most_bytes >> self.block_shift",
        "a command with a block more than the walker takes has pieces",
        FUNCTION,
    ),
    Fault(
        "beats-of-the-neighbour",
        "lib/read_mux.py",
        "owners.input.payload.eq(number)",
        "owners.input.payload.eq(number ^ 1)",
        "beats go to another reader",
        FUNCTION,
    ),
    Fault(
        "last-block-of-the-namespace",
        "pcie/command_translator.py",
        "last[g.zone_size_bits :] >= row.zones",
        "last[g.zone_size_bits :] > row.zones",
        "a read behind the last zone goes to the controller",
        TRANSLATOR,
    ),
    Fault(
        "options-of-the-vendor",
        "pcie/command_translator.py",
        "new.command.options.eq(raw[s.action.low : s.action.low + OPTION_BITS] & options)",
        "new.command.options.eq(raw[s.action.low : s.action.low + OPTION_BITS])",
        "reserved bits of a host mark its zone as unsure",
        TRANSLATOR,
    ),
    Fault(
        "no-flush-behind-fua",
        "pcie/command_translator.py",
        "Mux(durable & row.volatile, chosen, 0)",
        "Mux(durable & ~row.volatile, chosen, 0)",
        "a write with FUA to a volatile stream is answered before its program",
        TRANSLATOR,
    ),
    Fault(
        "address-of-the-flush",
        "pcie/command_translator.py",
        "with m.If(flushed):",
        "with m.If(0):",
        "an append with FUA has the result of its flush",
        TRANSLATOR,
    ),
    Fault(
        "slot-before-the-answer",
        "pcie/command_translator.py",
        "m.d.comb += self.done.valid.eq(1)\n                with m.If(self.done.ready):\n"
        "                    m.d.comb += freed.valid.eq(1)",
        "m.d.comb += [self.done.valid.eq(1), freed.valid.eq(1)]\n                with m.If(self.done.ready):",
        "a slot is free once for each cycle that its answer waits",
        TRANSLATOR,
    ),
    Fault(
        "steps-after-a-failure",
        "pcie/command_translator.py",
        "follows.eq(ends & ~failed & row.flushes.any())",
        "follows.eq(ends & row.flushes.any())",
        "a flush of all namespaces goes on behind a failed one, whose status is lost",
        TRANSLATOR,
    ),
)
