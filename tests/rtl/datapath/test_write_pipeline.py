"""The write command pipeline, alone: channels and tensor buffer are models in the bench."""

from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.rtl.datapath.write_pipeline import WritePipeline
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec import preset


@pytest.mark.long("icarus", "wider")
@pytest.mark.long("verilator", "tiny")
@pytest.mark.parametrize("shape", [{}, {"dies": 2, "planes": 4}], ids=["tiny", "wider"])
def test_write_pipeline(simulator: Simulator, seed: int, shape: dict[str, int]) -> None:
    tiny = preset("tiny")
    run_bench(
        WritePipeline(replace(tiny, read_queue=8, geometry=replace(tiny.geometry, **shape))),
        "write_pipeline",
        Path(__file__).with_name("write_pipeline_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters=shape,
    )
