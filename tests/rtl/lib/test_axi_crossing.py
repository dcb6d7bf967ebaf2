"""An AXI port between two clock domains: values, latency and rate at several ratios, and resets."""

from pathlib import Path

import pytest

from flashtrain.rtl.export.systemverilog import export_with_domains, lint
from flashtrain.rtl.lib.axi import Axi4LiteSignature, Axi4Signature
from flashtrain.rtl.lib.axi_crossing import CHANNELS, DOMAINS, AxiCrossing, payload
from flashtrain.sim.bench.runner import run_bench

LITE = Axi4LiteSignature(address_bits=8)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    design = export_with_domains(AxiCrossing(LITE), "axi_crossing", DOMAINS)
    return design.write(tmp_path_factory.mktemp("crossing"))


def test_crossing(files, simulator, seed):
    channels = {channel: payload(LITE, channel) for channel in CHANNELS}
    bench = Path(__file__).with_name("axi_crossing_bench.py")
    run_bench(files, "axi_crossing", bench, simulator=simulator, seed=seed, parameters={"channels": channels})


def test_it_is_lint_clean(files):
    lint(files, "axi_crossing")


@pytest.mark.parametrize("signature", [LITE, Axi4Signature(address_bits=36, data_bits=32)])
def test_all_pins_cross(signature):
    crossing = [name for channel in CHANNELS for name in payload(signature, channel)]
    handshakes = [f"{channel}{pin}" for channel in CHANNELS for pin in ("valid", "ready")]
    assert sorted([*crossing, *handshakes]) == sorted(signature.members)
