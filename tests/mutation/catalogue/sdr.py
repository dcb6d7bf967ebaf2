"""The asynchronous interface of the engines: strobes, modes, and the order of bytes."""

from tests.mutation.fault import Fault

UNITS = "rtl/channel/bus/test_bus_units.py::test_bus_units"
CONTROLLER = "rtl/controller/test_sdr.py::test_data"

SDR = (
    Fault(
        "sdr-byte-before-the-chip",
        "channel/bus/sdr_strobe.py",
        "self.capture.eq(late[mode.sample - 1])",
        "self.capture.eq(late[mode.sample - 2])",
        "a byte is taken a clock before tREA",
        UNITS,
    ),
    Fault(
        "sdr-byte-behind-the-chip",
        "channel/bus/sdr_strobe.py",
        "self.capture.eq(late[mode.sample - 1])",
        "self.capture.eq(late[min(mode.sample, len(late) - 1)])",
        "a byte is taken a clock late, when the next one may be there (EDO)",
        UNITS,
    ),
    Fault(
        "sdr-last-byte-not-awaited",
        "channel/bus/sdr_strobe.py",
        "began | late[: mode.sample].any()",
        "began | late[: mode.sample - 1].any()",
        "the end of a page does not wait for its last byte",
        UNITS,
    ),
    Fault(
        "sdr-write-cycle-too-short",
        "channel/bus/sdr_strobe.py",
        "write_last.eq(mode.write - 1),",
        "write_last.eq(mode.write_low),",
        "WE_n falls again before tWC",
        UNITS,
    ),
    Fault(
        "sdr-read-cycle-too-short",
        "channel/bus/sdr_strobe.py",
        "read_last.eq(mode.read - 1),",
        "read_last.eq(mode.read_low),",
        "RE_n falls again before tRC",
        UNITS,
    ),
    Fault(
        "sdr-strobe-too-short",
        "channel/bus/sdr_strobe.py",
        "write_low.eq(mode.write_low),",
        "write_low.eq(mode.write_low - 1),",
        "WE_n rises before tWP",
        UNITS,
    ),
    Fault(
        "row-address-out-of-order",
        "channel/bus/bus_cycles.py",
        "order += [Step.ROW_LOW, Step.ROW_MIDDLE, Step.ROW_HIGH]",
        "order += [Step.ROW_MIDDLE, Step.ROW_LOW, Step.ROW_HIGH]",
        "the bytes of a row address come in another order",
        UNITS,
    ),
    Fault(
        "sdr-mode-before-the-reset",
        "channel/bus/bus_controller.py",
        "s.mode.eq(Mux(Array(self.settled)[s.die], mode, 0))",
        "s.mode.eq(mode)",
        "a chip has the fast mode before its reset has ended and EFh has set it",
        CONTROLLER,
    ),
    Fault(
        "sdr-mode-not-set",
        "channel/die_agent/die_agent.py",
        "with m.If(sets_mode):",
        "with m.If(0):",
        "the engine uses a mode that the chip does not have",
        CONTROLLER,
    ),
    Fault(
        "sdr-interface-under-the-engines",
        "host_if/register_file.py",
        "chosen.as_value(), exists & still)",
        "chosen.as_value(), exists)",
        "firmware changes the interface while engines use it",
        CONTROLLER,
    ),
    Fault(
        "sdr-chip-enable-too-late",
        "channel/bus/bus_controller.py",
        'self._stay(m, mode.setup, "SELECTED")',
        'self._stay(m, 1, "SELECTED")',
        "a cycle begins before tCS",
        CONTROLLER,
    ),
    Fault(
        "sdr-bytes-of-a-beat-exchanged",
        "channel/bus/bus_controller.py",
        "self.pins.high_byte.eq(s.high_byte & ~strobe.reads)",
        "self.pins.high_byte.eq(~s.high_byte & ~strobe.reads)",
        "the high byte of a beat is sent first",
        CONTROLLER,
    ),
    Fault(
        "sdr-status-at-once",
        "channel/bus/bus_controller.py",
        "answered = Mux(s.sdr, ~s.strobe.pending, answered)",
        "answered = Mux(s.sdr, 1, answered)",
        "a status is the byte before the answer",
        CONTROLLER,
    ),
)
