"""The function on PCI Express: its rest, its turns, and the lengths of commands."""

from tests.mutation.fault import Fault

FUNCTION = "rtl/pcie/test_pcie.py::test_function"

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
)
