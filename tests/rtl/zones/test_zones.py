"""The units of `flashtrain.rtl.zones`, each with its bench."""

from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.rtl.zones.allocator import ZoneAllocator
from flashtrain.rtl.zones.erase_broadcast import EraseBroadcast
from flashtrain.rtl.zones.restore import Restore
from flashtrain.rtl.zones.state_machine import ZoneStateMachine
from flashtrain.rtl.zones.table import ZoneAge
from flashtrain.rtl.zones.zones import Zones
from flashtrain.sim.bench.runner import run_bench
from flashtrain.spec import FmsConfig, preset

TINY, TINY_CODEC = preset("tiny"), preset("tiny_codec")
MANY_ZONES = replace(TINY, name="many_zones", geometry=replace(TINY.geometry, blocks=171))


TINY_ECC = preset("tiny_ecc")
MANY_SPARES = replace(
    TINY_ECC,
    name="many_spares",
    geometry=replace(TINY_ECC.geometry, channels=4, dies=2, planes=4, blocks=19, spare_blocks=3),
    read_queue=8,
)


def run(top, bench: str, config: FmsConfig, simulator, seed: int, part: str | None = None):
    return run_bench(
        top,
        type(top).__name__.lower(),  # one design for all of its benches
        Path(__file__).with_name(f"{bench}_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"blocks": config.geometry.blocks, "preset": config.name},
        test_filter=part,
    )


@pytest.mark.usual("verilator")
def test_state_machine(simulator, seed):
    run(ZoneStateMachine(TINY), "state_machine", TINY, simulator, seed)


@pytest.mark.one_simulator
def test_age(simulator, seed):
    run(ZoneAge(), "age", TINY, simulator, seed)


@pytest.mark.one_simulator
def test_erase(simulator, seed):
    run(EraseBroadcast(TINY, TINY.geometry.channels), "erase", TINY, simulator, seed)


@pytest.mark.usual("icarus-tiny", "verilator-tiny", "verilator-tiny_ecc")
@pytest.mark.icarus("random_traffic|restores|two_passes|exhausted")
@pytest.mark.parametrize("config", [TINY, TINY_ECC], ids=lambda config: config.name)
def test_allocator(simulator, seed, part, config):
    run(ZoneAllocator(config), "allocator", config, simulator, seed, part)


@pytest.mark.one_simulator
def test_restore(simulator, seed):
    run(Restore(MANY_SPARES), "restore", MANY_SPARES, simulator, seed)


@pytest.mark.usual("icarus-tiny", "verilator-tiny")
@pytest.mark.icarus("reports|latency|room|resets_wait|failed_erase|retired")
@pytest.mark.parametrize("config", [TINY, MANY_ZONES], ids=lambda config: config.name)
def test_zones(simulator, seed, part, config):
    run(Zones(config), "zones", config, simulator, seed, part)


@pytest.mark.usual("verilator")
def test_updates(simulator, seed):
    run(Zones(TINY), "updates", TINY, simulator, seed)


@pytest.mark.icarus("opening_waits|given_back|meanwhile|more")
def test_faults(simulator, seed, part):
    run(Zones(TINY), "faults", TINY, simulator, seed, part)


@pytest.mark.icarus("restored|inspections|latency|recovering|at_once")
def test_recovery(simulator, seed, part):
    run(Zones(TINY), "recovery", TINY, simulator, seed, part)


@pytest.mark.usual("verilator")
def test_coded(simulator, seed):
    run(Zones(TINY_CODEC), "coded", TINY_CODEC, simulator, seed)
