"""Dies, array models and the checker together, on the pins of a channel."""

from itertools import pairwise
from pathlib import Path

import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.nand_bus import NandBus
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.sim.nand import ICARUS_SOURCES, VERILATOR_SOURCES, NandChannel
from flashtrain.sim.trace.trace import Kind
from flashtrain.spec import FmsConfig
from tests.rtl.die.die_configs import BAD_BLOCK, BAD_PLANES, config_named
from tests.rtl.die.die_without_array import DieWithoutArray
from tests.rtl.elaborated import elaborated

HERE = Path(__file__).parent

CHANNEL = 5
KINDS = {kind for kind in Kind if kind < Kind.BURST}


class NandBench(wiring.Component):
    """A channel of dies that counts its own cycles."""

    def __init__(self, nand: NandChannel):
        self.nand = nand
        super().__init__({
            "bus": In(NandBus(nand.config.geometry.dies)),
            "cycle": Out(64),
            "violations": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.nand = nand = self.nand
        connect(m, flipped(self.bus), nand.bus)
        cycle = Signal(64, reset_less=True)
        m.d.sync += cycle.eq(cycle + 1)
        m.d.comb += [
            self.cycle.eq(cycle),
            nand.cycle.eq(cycle),
            nand.channel.eq(CHANNEL),
            self.violations.eq(nand.violations),
        ]
        return m


def models(simulator: Simulator) -> list[Path]:
    """What a simulator needs beside the exported design."""
    if simulator is Simulator.VERILATOR:
        return [*VERILATOR_SOURCES, HERE / "recorder.cpp"]
    return list(ICARUS_SOURCES)


def exported_bench(name: str) -> list[Path]:
    config = config_named(name)

    def make() -> NandBench:
        return NandBench(NandChannel(config, bad_block=BAD_BLOCK, bad_planes=BAD_PLANES))

    return elaborated(make, "nand_bench", NandBench, config, BAD_BLOCK, BAD_PLANES)


@pytest.fixture
def run(simulator, seed):
    """Runs a bench on a configuration."""

    def run(bench: str, name: str, **options):
        files = [*exported_bench(name), *models(simulator)]
        parameters = {"config": name, "verilator": simulator is Simulator.VERILATOR}
        return run_bench(
            files,
            "nand_bench",
            HERE / bench,
            simulator=simulator,
            seed=seed,
            parameters=parameters,
            **options,
        )

    return run


@pytest.mark.icarus("multi_plane|interleave|reset_aborts|columns|busy_times|identity|by_plane")
def test_operations(run, simulator, part):
    report = run("die_bench.py", "two", test_filter=part)
    if simulator is Simulator.VERILATOR:
        check_trace(report.folder / "trace.txt", config_named("two"))


def check_trace(path: Path, config: FmsConfig) -> None:
    """The events of the bench: cache programs without a gap between them, whole pages on the bus."""
    events = [tuple(map(int, line.split())) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {event[0] for event in events} == KINDS
    assert {event[1] for event in events} == {CHANNEL}
    assert {event[2] for event in events} == {0, 1}
    assert all(start <= stop for _, _, _, start, stop, _ in events)

    programs = sorted(
        (start, stop) for kind, _, die, start, stop, _ in events if kind == Kind.PROGRAM and die == 0
    )
    longest = run_length = 1
    for before, after in pairwise(programs):
        run_length = run_length + 1 if after[0] == before[1] + 1 else 1
        longest = max(longest, run_length)
    assert longest == config.geometry.pages, "the array rests between cache programs"

    beats = config.geometry.raw_page_bytes // 2
    for wanted in (Kind.DATA_IN, Kind.DATA_OUT):
        assert any(kind == wanted and stop - start + 1 == beats for kind, _, _, start, stop, _ in events)


@pytest.mark.long
def test_large_pages(run, simulator):
    if simulator is not Simulator.VERILATOR:
        pytest.skip("too slow")
    run("die_bench.py", "small", test_filter="multi_plane|dies_interleave|columns")
    run("update_bench.py", "small", test_filter="the_array_never_rests")


@pytest.mark.usual("icarus-fast", "verilator-fast")
@pytest.mark.icarus(
    "gradients_loaded|status",
    long="gradients_loaded|formats=5|status|beyond.*SGD|state_formats.*rounding=1.*arrays=3",
)
@pytest.mark.parametrize("name", ["fast", "one"])
def test_updates(run, part, name):
    run("update_bench.py", name, test_filter=part)


@pytest.mark.usual("verilator-keyed")
@pytest.mark.parametrize("name", ["coded", "coded_small", "keyed"])
def test_updates_of_pages_with_a_code(run, simulator, name):
    if simulator is Simulator.VERILATOR:
        run("coded_update_bench.py", name)
        few = {
            "coded_small": "never_rests",
            "coded": "values|status|beyond|state_formats",
            "keyed": "status|beyond|another|state_formats.*arrays=3",
        }
        run("update_bench.py", name, test_filter=few[name])
    elif name != "coded_small":
        run("coded_update_bench.py", name, test_filter="uncorrectable|part_of|cycles")
    else:
        pytest.skip("too slow")


@pytest.mark.usual("verilator")
def test_power_fails(run, simulator):
    all_of_it = simulator is Simulator.VERILATOR
    run("power_bench.py", "fast", test_filter=None if all_of_it else "single|suspended|know")


@pytest.mark.usual("verilator")
def test_every_breach_is_refused_once(run):
    run("violations_bench.py", "two")


@pytest.mark.long
def test_every_breach_of_features_is_refused_once(run):
    run("violations_bench.py", "levels")


@pytest.mark.usual("icarus")
def test_read_level(simulator, seed):
    config = config_named("coded")
    files = elaborated(lambda: DieWithoutArray(config), "die_without_array", DieWithoutArray, config)
    run_bench(
        [*files, *models(simulator)],
        "die_without_array",
        HERE / "read_level_bench.py",
        simulator=simulator,
        seed=seed,
        parameters={"config": "coded"},
    )


@pytest.mark.usual("verilator")
def test_random_operations_against_a_twin(run):
    run("random_bench.py", "two")


@pytest.mark.one_simulator
def test_array_alone(simulator, seed):
    parameters = {"verilator": simulator is Simulator.VERILATOR}
    bench = HERE / "array_bench.py"
    run_bench(
        models(simulator), "flashtrain_array", bench, simulator=simulator, seed=seed, parameters=parameters
    )


@pytest.mark.usual("icarus")
def test_checker_of_packets_alone(simulator, seed):
    bench = HERE / "sca_checker_bench.py"
    run_bench(models(simulator), "flashtrain_sca_checker", bench, simulator=simulator, seed=seed)
