"""The command port."""

from tests.mutation.fault import Fault

PORT = "rtl/channel/bus/test_bus_controller.py::test_command_port"
CONTROLLER = "rtl/controller/test_port.py::test_port"

COMMAND_PORT = (
    Fault(
        "engine-goes-on-at-once",
        "channel/bus/bus_controller.py",
        "with m.If(~self.pause & self.released):",
        "with m.If(~self.pause):",
        "a chip is still selected when the engine addresses another one",
        PORT,
    ),
    Fault(
        "byte-from-before-the-chip",
        "channel/bus/command_port.py",
        "counter.port.length.eq(low)]",
        "counter.port.length.eq(low - 1)]",
        "a byte is taken a cycle before the chip has sent it",
        PORT,
    ),
    Fault(
        "busy-level-not-kept",
        "channel/bus/command_port.py",
        "noted.eq(noted | ~ready)",
        "noted.eq(~ready)",
        "a chip that was busy between two questions was never busy",
        PORT,
    ),
    Fault(
        "kind-of-another-die",
        "channel/bus/command_port.py",
        "same_die = pins.selected & (pins.die == cycle.die)",
        "same_die = pins.selected",
        "a cycle goes to the die of the one before",
        PORT,
    ),
    Fault(
        "cycle-while-busy",
        "host_if/register_file.py",
        "exists & self.enable & port.paused & ~port.busy",
        "exists & self.enable & port.paused",
        "a cycle replaces one that is under way",
        CONTROLLER,
    ),
)
