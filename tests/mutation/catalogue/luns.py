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
        "channel/bus/lun_hold.py",
        "chosen_others = Cat(chosen[other] for other in others).any()",
        "chosen_others = 0",
        "another LUN is addressed between the choice of a page and its data",
        ENGINE,
    ),
    Fault(
        "luns-let-in-between-planes",
        "channel/bus/lun_hold.py",
        "BusOp.SELECT, BusOp.PROGRAM_PAGE, BusOp.PROGRAM_MORE, BusOp.READ_MORE, BusOp.ERASE_MORE,",
        "BusOp.SELECT, BusOp.PROGRAM_PAGE,",
        "another LUN is addressed between two planes of a program, a read or an erase",
        ENGINE,
    ),
    Fault(
        "luns-within-twb",
        "channel/bus/lun_hold.py",
        "chosen_others | clears | settling.held | settling.running",
        "chosen_others | clears",
        "a command to another LUN comes within tWB of one that makes a LUN busy",
        ENGINE,
    ),
    Fault(
        "luns-data-cleared",
        "channel/bus/lun_hold.py",
        "wants[number] & Cat(holds_data[other] for other in others).any()",
        "wants[number] & 0",
        "80h comes while another LUN holds a page that was read, and may clear it",
        ENGINE,
    ),
    Fault(
        "luns-two-drive",
        "channel/bus/bus_controller.py",
        "m.d.sync += s.choosing.eq(item.payload.op.matches(*s.chosen_by_status))",
        "m.d.sync += s.choosing.eq(0)",
        "06h alone does not stop the output of another LUN that is busy",
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
