"""The units of `flashtrain.rtl.pcie`, each with its bench."""

from pathlib import Path

import pytest
from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, connect, flipped

from flashtrain.rtl.pcie.command_translator import CommandTranslator
from flashtrain.rtl.pcie.data_mover import DataMover
from flashtrain.rtl.pcie.device_queue import DeviceQueue
from flashtrain.rtl.pcie.firmware_bus import FirmwareBus
from flashtrain.rtl.pcie.function import Function
from flashtrain.rtl.pcie.function_registers import FunctionRegisters
from flashtrain.rtl.pcie.interrupt_coalescer import InterruptCoalescer
from flashtrain.rtl.pcie.pcie_front_end import PcieFrontEnd
from flashtrain.rtl.pcie.pointer_walker import PointerWalker
from flashtrain.rtl.pcie.queue_engine import QueueEngine
from flashtrain.rtl.pcie.queue_turns import QueueTurns
from flashtrain.rtl.pcie.tlp_port import TlpPort
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec import preset
from flashtrain.spec.pcie import TlpSizes
from tests.rtl.controller.fms_config import BENCH_NODE, QUICK
from tests.rtl.pcie.drive_system import TOP, drive_sources

QUEUES, ENTRIES = 64, 1024
"""As many as there can be."""
MOST_BYTES = 1 << 18
TLP = TlpSizes()


def run(top, name: str, simulator: Simulator, seed: int, bench: str | None = None, **parameters):
    file = Path(__file__).with_name(f"{bench or name}_bench.py")
    run_bench(top, name, file, simulator=simulator, seed=seed, parameters=parameters)


@pytest.mark.one_simulator
def test_function_registers(simulator, seed):
    top = FunctionRegisters(QUEUES, ENTRIES)
    run(top, "function_registers", simulator, seed, queues=QUEUES, accesses=400)


@pytest.mark.usual("icarus-8-16", "verilator-128-64")
@pytest.mark.parametrize(("port_bytes", "tags"), [(8, 16), (128, 64)])
def test_tlp_port(simulator, seed, port_bytes, tags):
    bursts = 30 if simulator is Simulator.ICARUS else 150
    top = TlpPort(TlpSizes(port_bytes, tags))
    run(top, "tlp_port", simulator, seed, port_bytes=port_bytes, tags=tags, bursts=bursts)


def pass_on(m: Module, top, unit, port: TlpPort) -> None:
    """Connect the members of a top to those of its parts."""
    for name, member in top.signature.members.items():
        inner = getattr(unit if name in unit.signature.members else port, name)
        if member.is_signature:
            connect(m, inner, flipped(getattr(top, name)))
        elif member.flow == In:
            m.d.comb += Value.cast(inner).eq(Value.cast(getattr(top, name)))
        else:
            m.d.comb += Value.cast(getattr(top, name)).eq(Value.cast(inner))


_JOINED = "read", "write", "data_read", "data_write"
"""Members of units that the port of TLPs has, too."""


class BehindPort(wiring.Component):
    """A unit of bursts and the port of TLPs: the members of both, but for what connects them.

    Messages of a test show what is behind the data of a mover.
    """

    def __init__(self, unit: QueueEngine | PointerWalker | DataMover, tlp: TlpSizes = TLP):
        self.unit, self.port = unit, TlpPort(tlp)
        mine, port = unit.signature.members, self.port.signature.members
        self.joined = [name for name in _JOINED if name in mine]
        outer = {name: member for name, member in mine.items() if name not in self.joined}
        names = ["requests", "data", "completions"]
        if isinstance(unit, DataMover):
            names.append("messages")
        super().__init__(outer | {name: port[name] for name in names})

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit, m.submodules.port = self.unit, self.port
        for name in self.joined:
            connect(m, getattr(self.unit, name), getattr(self.port, name))
        pass_on(m, self, self.unit, self.port)
        return m


@pytest.mark.one_simulator
@pytest.mark.parametrize("vectors", [3, QUEUES + 1])
def test_interrupt_coalescer(simulator, seed, vectors):
    sizes = {"vectors": vectors, "unit_cycles": 40}
    run(InterruptCoalescer(**sizes), "interrupt_coalescer", simulator, seed, rounds=25, **sizes)


@pytest.mark.one_simulator
def test_queue_turns(simulator, seed):
    run(QueueTurns(QUEUES), "queue_turns", simulator, seed, queues=QUEUES, rounds=10)


@pytest.mark.one_simulator
def test_queue_engine(simulator, seed):
    top = BehindPort(QueueEngine(QUEUES))
    run(top, "queue_engine", simulator, seed, queues=QUEUES, commands=30)


@pytest.mark.one_simulator
def test_pointer_walker(simulator, seed):
    top = BehindPort(PointerWalker(MOST_BYTES))
    run(top, "pointer_walker", simulator, seed, pointers=100, most_bytes=MOST_BYTES)


FUNCTION = {"queues": 8, "entries": 16, "block_bytes": 512, "most_bytes": 1 << 16, "unit_cycles": 400}


def test_function(simulator, seed):
    """With a port of 8 bytes on one simulator, and of 64 on the other."""
    commands, tlp = (12, TLP) if simulator is Simulator.ICARUS else (60, TlpSizes(64))
    top = Function(**FUNCTION, tlp=tlp)
    run(top, "function", simulator, seed, commands=commands, port_bytes=tlp.port_bytes, **FUNCTION)


@pytest.mark.parametrize(("port_bytes", "commands"), [(64, 30), (8, 300), (128, 300)])
@pytest.mark.usual("64-30")
def test_root_complex(seed, port_bytes, commands):
    """The function below a root complex that is not ours. In every run with the design of `test_function`.

    On Verilator alone: what takes the time is the model of the link.
    """
    tlp = TlpSizes(port_bytes)
    run(
        Function(**FUNCTION, tlp=tlp), "function", Simulator.VERILATOR, seed, bench="root_complex",
        commands=commands, port_bytes=port_bytes, **FUNCTION,
    )  # fmt: skip


@pytest.mark.one_simulator
def test_command_translator(simulator, seed):
    sizes = {"slots": 8, "most_bytes": 1 << 12}
    top = CommandTranslator(preset("tiny"), **sizes)
    run(top, "command_translator", simulator, seed, commands=400, **sizes)


@pytest.mark.usual("icarus-narrow", "verilator-narrow", "verilator-wide")
@pytest.mark.parametrize("width", ["narrow", "wide"])
def test_data_mover(simulator, seed, width):
    """The narrow port has beats of 16 bytes behind it on one simulator, and of 4 on the other."""
    sizes = {"slots": 8, "most_bytes": 1 << 14}
    bursts, name = (6, "optimstore") if simulator is Simulator.ICARUS else (20, "tiny")
    tlp = TLP
    if width == "wide":
        name, tlp = "behemoth", TlpSizes.of(preset("behemoth"))
    top = BehindPort(DataMover(preset(name), **sizes, port_bytes=tlp.port_bytes), tlp)
    run(
        top, "data_mover", simulator, seed, bursts=bursts, preset=name, port_bytes=tlp.port_bytes,
        tags=tlp.tags, **sizes,
    )  # fmt: skip


@pytest.mark.one_simulator
def test_device_queue(simulator, seed):
    sizes = {"slots": 8, "most_bytes": 1 << 12}
    tiny = preset("tiny")
    top = DeviceQueue(tiny.address_bits, **sizes, block_bytes=tiny.geometry.page_bytes)
    run(top, "device_queue", simulator, seed, commands=200, **sizes)


DRIVE = {"queues": 4, "entries": 16, "slots": 8, "most_bytes": 1 << 13}


def drive_parameters(commands: int) -> dict[str, object]:
    return {**DRIVE, "commands": commands, "config": QUICK.name, "block_bytes": QUICK.geometry.page_bytes}


@pytest.mark.usual("verilator")
def test_pcie_front_end(simulator, seed):
    """All before the pins of the controller, which is a model."""
    commands = 4 if simulator is Simulator.ICARUS else 40
    top = PcieFrontEnd(QUICK, **DRIVE)
    run(top, "pcie_front_end", simulator, seed, **drive_parameters(commands))


@pytest.mark.long
def test_drive(seed):
    """The front end with the controller and its dies, which take a minute to compile.

    On Verilator alone: on Icarus all of these commands would take minutes, and the units run there.
    """
    bench = Path(__file__).with_name("drive_bench.py")
    run_bench(
        drive_sources(QUICK, **DRIVE), TOP, bench, simulator=Simulator.VERILATOR, seed=seed,
        parameters=drive_parameters(12),
    )  # fmt: skip


def test_firmware_bus(simulator, seed):
    accesses = 300 if simulator is Simulator.ICARUS else 1500
    image, size = bytes(range(1, 41)), 256
    top = FirmwareBus(image, size)
    run(top, "firmware_bus", simulator, seed, image=image.hex(), memory_bytes=size, accesses=accesses)


@pytest.mark.long
def test_firmware_on_a_core(seed, tmp_path):
    """A drive without a model in it: its firmware runs on a core of RISC-V in RTL."""
    for package in ("ziglang", "pythondata_cpu_picorv32"):
        pytest.importorskip(package, reason=f"the package {package} is not installed")
    from tests.rtl.pcie.processor_system import TOP, processor_sources, program, tables_of

    image = program(tmp_path, tables_of(QUICK, BENCH_NODE, DRIVE))
    bench = Path(__file__).with_name("processor_bench.py")
    run_bench(
        processor_sources(QUICK, image, **DRIVE), TOP, bench, simulator=Simulator.VERILATOR, seed=seed,
        parameters=drive_parameters(0),
    )  # fmt: skip
