"""Several LUNs behind a chip enable: addresses, the choice of a page, turnaround, status of planes."""

from tests.mutation.fault import Fault

ENGINE = "rtl/channel/test_engine.py::test_engine[verilator-luns]"

LUNS = (
    Fault(
        "luns-without-a-number",
        "channel/bus/bus_controller.py",
        "Cat(request.page, request.plane, self.lookup.block, *s.lun)",
        "Cat(request.page, request.plane, self.lookup.block)",
        "each row address is that of the first LUN",
        ENGINE,
    ),
    Fault(
        "luns-chip-enable-of-another",
        "channel/bus/bus_controller.py",
        "self.die[lun_bits:] if lun_bits else self.die",
        "self.die[:-lun_bits] if lun_bits else self.die",
        "the chip enable is the lower part of a die's number, as the LUN is",
        ENGINE,
    ),
    Fault(
        "luns-choice-not-held",
        "channel/bus/bus_controller.py",
        "s.held[number].eq(Cat(others).any())",
        "s.held[number].eq(0)",
        "another LUN is addressed between the choice of a page and its data",
        ENGINE,
    ),
    Fault(
        "luns-turnaround-of-one",
        "channel/bus/bus_arbiter.py",
        "return die[self.lun_bits :] == number >> self.lun_bits",
        "return die == number",
        "another LUN of the chip enable gets a command before tRHW",
        ENGINE,
    ),
    Fault(
        "luns-one-plane-polled",
        "channel/die_agent/ready_poller.py",
        "more = ready & self._judges & (self.plane != self.config.geometry.planes - 1)",
        "more = ready & 0",
        "the status of the first plane stands for all of them",
        ENGINE,
    ),
    Fault(
        "luns-failures-forgotten",
        "channel/die_agent/die_agent.py",
        "m.d.sync += polled_status.eq(status | poller.failures)",
        "m.d.sync += polled_status.eq(status)",
        "a failure of another plane than the last one is not told",
        ENGINE,
    ),
    Fault(
        "luns-first-failures-not-asked",
        "channel/die_agent/ready_poller.py",
        "follows = (started_work == Work.PROGRAM) & (work == Work.PROGRAM)",
        "follows = started_work != started_work",
        "the planes are not asked for the failure of the program before",
        ENGINE,
    ),
)
