"""The sub-commands by name; the module of one is imported when it is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .command import Command


class Summary(NamedTuple):
    """The purpose of a command, as a line of the help, and the module with its `COMMAND`."""

    module: str
    text: str

    def load(self) -> "Command":
        return import_module(f".{self.module}", __package__).COMMAND


COMMANDS = {
    "train": Summary(
        "train", "train a network whose tensors live in the simulated flash, and compare it with plain NumPy"
    ),
    "sequence": Summary("sequence", "generate, inspect and replay training command sequences"),
    "platform": Summary("platform", "play training iterations on nodes with flash, SSDs or ideal storage"),
    "offload": Summary(
        "offload", "plan which saved tensors of a training go to the flash, and when they come back"
    ),
    "checkpoint": Summary("checkpoint", "show what checkpoints of models hold, and which memory they free"),
    "figure": Summary("figure", "write published results beside ours, with all assumptions"),
    "io": Summary("io", "exercise the device like a drive, with job files and options of fio"),
    "serve": Summary("serve", "serve the streams of a device over NVMe/TCP"),
    "pcie": Summary("pcie", "be an NVMe drive on the PCI bus of an unmodified QEMU"),
    "device": Summary(
        "inspect_device", "inspect the image of a flash like a drive; the image stays as it is"
    ),
    "bringup": Summary(
        "bringup", "start the NAND chips of a device by its command port, and compare them with it"
    ),
    "trace": Summary("trace", "replay block traces on the flash memory system"),
    "ssd": Summary("ssd", "simulate conventional SSDs, to compare with"),
    "codec": Summary("codec", "compare the window code of activations with other codes"),
    "verilog": Summary(
        "verilog", "write controller, dies and a simulation as lint-clean SystemVerilog, with a manifest"
    ),
    "area": Summary(
        "area", "map a part of the hardware to an FPGA: look-up tables, registers, memories, clock"
    ),
    "bench": Summary("bench", "measure the RTL against its bounds, in cycles"),
    "calibrate": Summary("calibrate", "measure the stages of the performance model on the RTL"),
    "sweep": Summary("sweep", "run workloads on every combination of values of a configuration"),
    "fuzz": Summary(
        "fuzz", "attack a device with random and mutated commands, and judge every answer by the contract"
    ),
    "faults": Summary(
        "faults", "train on cells that forget bits and blocks that break, and compare with plain NumPy"
    ),
    "powercut": Summary(
        "powercut", "cut the power at random cycles of training runs, and look for lost data"
    ),
    "kill": Summary("kill", "kill processes whose flash is in an image, and look for lost data"),
    "damage": Summary(
        "damage", "damage images of a flash, and look for wrong bytes and errors that are no message"
    ),
    "build": Summary("build", "compile simulators ahead of need; show and clean the cache that keeps them"),
    "info": Summary("info", "geometry, bounds, memories and streams of a configuration"),
}
"""In the order of the help."""
