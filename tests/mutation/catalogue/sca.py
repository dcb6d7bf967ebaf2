"""Commands beside the data."""

from tests.mutation.fault import Fault

BUS = "rtl/channel/bus/test_bus_controller.py::test_sca"

SCA = (
    Fault(
        "sca-commands-ahead-of-bursts",
        "channel/bus/packet_sender.py",
        "with m.Elif(self.commands.valid & ~held):",
        "with m.Elif(self.commands.valid):",
        "a command begins shortly before a page ends, and the next page waits for its packet",
        BUS,
    ),
    Fault(
        "sca-status-before-twhr",
        "channel/bus/command_part.py",
        "counter.port.length.eq(max(twhr - 2, 0))",
        "counter.port.length.eq(0)",
        "the status is asked for before tWHR is over",
        BUS,
    ),
    Fault(
        "sca-status-bits-exchanged",
        "channel/bus/packet_sender.py",
        "answer.eq(Cat(answer[2:], self.ca_i))",
        "answer.eq(Cat(self.ca_i, answer[:6]))",
        "the pairs of bits of a status are in the reverse order",
        BUS,
    ),
    Fault(
        "sca-burst-ended-too-soon",
        "channel/bus/data_part.py",
        'm.d.comb += self._ending.eq(1)\n                    stay(last, "LAST_OUT")',
        'm.d.comb += self._ending.eq(1)\n                    stay(2 * last, "LAST_OUT")',
        "DATA_END comes while the die still sends",
        BUS,
    ),
    Fault(
        "sca-page-ended-before-its-beats-are-there",
        "channel/bus/data_part.py",
        "with m.If(~counter.port.ended | self.last_beats):",
        "with m.If(~counter.port.ended | self.beats_valid):",
        "a page to a die pauses beside its DATA_END",
        BUS,
    ),
    Fault(
        "sca-chosen-when-the-buffer-is-free",
        "channel/bus/data_part.py",
        "arbiter.room.eq(self.fill_room & ~self._owes_identity)",
        "arbiter.room.eq(self.fill.ready & ~self._owes_identity)",
        "a page is chosen when the read buffer has taken the last beat before it",
        BUS,
    ),
    Fault(
        "sca-held-for-no-page",
        "channel/bus/data_part.py",
        "self._next_waits.eq(arbiter.valid.any())",
        "self._next_waits.eq(1)",
        "a command waits for the end of a page behind which none comes",
        BUS,
    ),
    Fault(
        "sca-load-without-tadl",
        "channel/bus/data_part.py",
        'wait(max(gap, tadl), "SETTLE")',
        'wait(gap, "SETTLE")',
        "gradients and constants follow their address before tADL",
        BUS,
    ),
    Fault(
        "sca-first-command-behind-data",
        "channel/bus/command_part.py",
        "step.eq(Mux(confirms, Step.THIRD, Step.FIRST))",
        "step.eq(Step.FIRST)",
        "80h, or nothing, comes behind a page in the place of 15h",
        BUS,
    ),
    Fault(
        "sca-page-for-an-offline-die",
        "channel/bus/data_part.py",
        'with m.If(gives):\n                                m.next = "PAD"',
        'with m.If(gives):\n                                m.next = "SELECT"',
        "a die that was lost is selected for its data",
        BUS,
    ),
)
