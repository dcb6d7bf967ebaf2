# amaranth: UnusedElaboratable=no
"""The top of the whole-controller bench: the simulated system, with protocol checkers on its AXI ports."""

from pathlib import Path

from amaranth import ClockSignal, Const, Instance, ResetSignal
from amaranth.lib.wiring import Out

from flashtrain.rtl.controller import clock_domains
from flashtrain.sim.bench.runner import Simulator
from flashtrain.sim.bench.system import FmsSystem
from flashtrain.sim.nand import ICARUS_SOURCES, QUIET_HOST, VERILATOR_SOURCES
from flashtrain.sim.verilator.verilated import exported_sources
from flashtrain.spec import FmsConfig

AXI_CHECKER = Path(__file__).with_name("axi_checker.sv")
TOP = "flashtrain_bench"

_AXI_PORTS = ("data", "queue", "registers")
_AXI_PINS = (
    "awid", "awaddr", "awlen", "awsize", "awburst", "awvalid", "awready",
    "wdata", "wstrb", "wlast", "wvalid", "wready", "bid", "bresp", "bvalid", "bready",
    "arid", "araddr", "arlen", "arsize", "arburst", "arvalid", "arready",
    "rid", "rdata", "rresp", "rlast", "rvalid", "rready",
)  # fmt: skip
# AXI4-Lite is AXI4 with bursts of one beat of full width: what it leaves out, as (value, width).
_LITE = {
    "awid": (0, 1), "awlen": (0, 8), "awsize": (2, 3), "awburst": (1, 2), "wlast": (1, 1), "bid": (0, 1),
    "arid": (0, 1), "arlen": (0, 8), "arsize": (2, 3), "arburst": (1, 2), "rid": (0, 1), "rlast": (1, 1),
}  # fmt: skip


class FmsBench(FmsSystem):
    """A `FmsSystem` whose AXI ports are watched. NAND pins are signals of its module: a bench sees them.

    system: see `FmsSystem`.

    Members, beside those of `FmsSystem`, for each port p of data, queue and registers
    -------
    p_violations : Out(32)       breaches of the AXI protocol so far
    p_reads, p_writes : Out(32)  bursts under way
    """

    def __init__(self, config: FmsConfig, **system):
        watched = {
            f"{port}_{what}": Out(32) for port in _AXI_PORTS for what in ("violations", "reads", "writes")
        }
        super().__init__(config, watched=watched, **system)

    def elaborate(self, platform):
        m = super().elaborate(platform)
        for name in _AXI_PORTS:
            port = getattr(self, name)
            inputs = {
                f"i_{pin}": getattr(port, pin) if hasattr(port, pin) else Const(*_LITE[pin])
                for pin in _AXI_PINS
            }
            m.submodules[f"{name}_checker"] = Instance(
                "flashtrain_axi_checker",
                p_NAME=name, p_ADDRESS_BITS=len(port.awaddr), p_DATA_BYTES=len(port.wstrb),
                i_clk=ClockSignal(), i_rst=ResetSignal(), **inputs,
                o_violations=getattr(self, f"{name}_violations"),
                o_reads=getattr(self, f"{name}_reads"), o_writes=getattr(self, f"{name}_writes"),
            )  # fmt: skip
        return m


def bench_sources(config: FmsConfig, simulator: Simulator, host: Path = QUIET_HOST, **system) -> list[Path]:
    """All sources of the bench's design for this simulator; the top module is :data:`TOP`.

    host: what listens to the NAND models on Verilator. system: see `FmsSystem`.
    """
    bench = FmsBench(config, **system)
    exported = exported_sources(
        lambda: bench, TOP, f"{config!r} {system!r}", domains=clock_domains(bench.clocks)
    )
    nand = [*VERILATOR_SOURCES, host] if simulator is Simulator.VERILATOR else ICARUS_SOURCES
    return [*exported, AXI_CHECKER, *nand]
