"""The units of `flashtrain.rtl.pcie`, each with its bench."""

from pathlib import Path

from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, connect, flipped

from flashtrain.rtl.pcie.function_registers import FunctionRegisters
from flashtrain.rtl.pcie.prp_walker import PrpWalker
from flashtrain.rtl.pcie.queue_engine import QueueEngine
from flashtrain.rtl.pcie.tlp_port import TlpPort
from flashtrain.sim.bench.runner import Simulator, run_bench

QUEUES, ENTRIES, TAGS = 64, 1024, 16
"""As many as there can be."""
MOST_BYTES = 1 << 18


def run(top, name: str, simulator: Simulator, seed: int, **parameters):
    bench = Path(__file__).with_name(f"{name}_bench.py")
    run_bench(top, name, bench, simulator=simulator, seed=seed, parameters=parameters)


def test_function_registers(simulator, seed):
    accesses = 150 if simulator is Simulator.ICARUS else 700
    top = FunctionRegisters(QUEUES, ENTRIES)
    run(top, "function_registers", simulator, seed, queues=QUEUES, accesses=accesses)


def test_tlp_port(simulator, seed):
    bursts = 40 if simulator is Simulator.ICARUS else 150
    run(TlpPort(TAGS), "tlp_port", simulator, seed, tags=TAGS, bursts=bursts)


def outer(unit, port: TlpPort) -> dict[str, Member]:
    """The members of a unit in front of a port, but for what connects them."""
    mine = {name: member for name, member in unit.signature.members.items() if name not in ("read", "write")}
    return mine | {name: port.signature.members[name] for name in ("requests", "data", "completions")}


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


class QueuesBehindPort(wiring.Component):
    """The queue engine and the port of TLPs: the members of both, but for what connects them."""

    def __init__(self, queues: int, tags: int):
        self.engine, self.port = QueueEngine(queues), TlpPort(tags)
        super().__init__(outer(self.engine, self.port))

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine, m.submodules.port = self.engine, self.port
        connect(m, self.engine.read, self.port.read)
        connect(m, self.engine.write, self.port.write)
        pass_on(m, self, self.engine, self.port)
        return m


def test_queue_engine(simulator, seed):
    commands = 12 if simulator is Simulator.ICARUS else 60
    top = QueuesBehindPort(QUEUES, TAGS)
    run(top, "queue_engine", simulator, seed, queues=QUEUES, commands=commands)


class WalkerBehindPort(wiring.Component):
    """The walker of PRPs and the port of TLPs: the members of both, but for what connects them."""

    def __init__(self, most_bytes: int, tags: int):
        self.walker, self.port = PrpWalker(most_bytes), TlpPort(tags)
        super().__init__(outer(self.walker, self.port))

    def elaborate(self, platform):
        m = Module()
        m.submodules.walker, m.submodules.port = self.walker, self.port
        connect(m, self.walker.read, self.port.read)
        pass_on(m, self, self.walker, self.port)
        return m


def test_prp_walker(simulator, seed):
    pointers = 20 if simulator is Simulator.ICARUS else 90
    top = WalkerBehindPort(MOST_BYTES, TAGS)
    run(top, "prp_walker", simulator, seed, pointers=pointers, most_bytes=MOST_BYTES)
