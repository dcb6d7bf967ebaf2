"""The units of `flashtrain.rtl.pcie`, each with its bench."""

from pathlib import Path

from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, connect, flipped

from flashtrain.rtl.pcie.function_registers import FunctionRegisters
from flashtrain.rtl.pcie.queue_engine import QueueEngine
from flashtrain.rtl.pcie.tlp_port import TlpPort
from flashtrain.sim.bench.runner import Simulator, run_bench

QUEUES, ENTRIES, TAGS = 64, 1024, 16
"""As many as there can be."""


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


class QueuesBehindPort(wiring.Component):
    """The queue engine and the port of TLPs: the members of both, but for what connects them."""

    def __init__(self, queues: int, tags: int):
        self.engine, self.port = QueueEngine(queues), TlpPort(tags)
        mine = {name: member for name, member in self.engine.signature.members.items()
                if name not in ("read", "write")}  # fmt: skip
        theirs = {name: self.port.signature.members[name] for name in ("requests", "data", "completions")}
        super().__init__({**mine, **theirs})

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine, m.submodules.port = self.engine, self.port
        connect(m, self.engine.read, self.port.read)
        connect(m, self.engine.write, self.port.write)
        for name in self.signature.members:
            inner = self.engine if name in self.engine.signature.members else self.port
            mine, value = getattr(self, name), getattr(inner, name)
            if self.signature.members[name].is_signature:
                connect(m, value, flipped(mine))
            elif self.signature.members[name].flow == In:
                m.d.comb += Value.cast(value).eq(Value.cast(mine))
            else:
                m.d.comb += Value.cast(mine).eq(Value.cast(value))
        return m


def test_queue_engine(simulator, seed):
    commands = 12 if simulator is Simulator.ICARUS else 60
    top = QueuesBehindPort(QUEUES, TAGS)
    run(top, "queue_engine", simulator, seed, queues=QUEUES, commands=commands)
