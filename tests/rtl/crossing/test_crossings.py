"""The units between two clocks: values, latency and rate at several ratios, and resets."""

from pathlib import Path

import pytest

from flashtrain.rtl.export.systemverilog import export_design, lint
from flashtrain.sim.bench.runner import run_bench
from flashtrain.spec import preset

from .crossings import DOMAINS, Crossings


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    design = export_design(Crossings(preset("tiny")), "crossings", DOMAINS)
    return design.write(tmp_path_factory.mktemp("crossings"))


@pytest.mark.one_simulator
def test_crossings(files, simulator, seed):
    run_bench(
        files, "crossings", Path(__file__).with_name("crossings_bench.py"), simulator=simulator, seed=seed
    )


def test_it_is_lint_clean(files):
    lint(files, "crossings")
