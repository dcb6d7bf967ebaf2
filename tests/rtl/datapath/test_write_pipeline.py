"""The write command pipeline, alone: channels and tensor buffer are models in the bench."""

from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.rtl.datapath.write_pipeline import WritePipeline
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec import preset
from tests.rtl.datapath.coded_write_path import CodedWritePath


@pytest.mark.usual("icarus-wider")
@pytest.mark.parametrize("shape", [{}, {"dies": 2, "planes": 4}], ids=["tiny", "wider"])
def test_write_pipeline(simulator: Simulator, seed: int, part: str | None, shape: dict[str, int]) -> None:
    tiny = preset("tiny")
    run_bench(
        WritePipeline(replace(tiny, read_queue=8, geometry=replace(tiny.geometry, **shape))),
        "write_pipeline",
        Path(__file__).with_name("write_pipeline_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters=shape,
        test_filter=part,
    )


@pytest.mark.icarus("closes|first_block|without_room")
def test_coded_write_path(simulator: Simulator, seed: int, part: str | None) -> None:
    run_bench(
        CodedWritePath(replace(preset("tiny_codec"), read_queue=8)),
        "coded_write_path",
        Path(__file__).with_name("coded_write_bench.py"),
        simulator=simulator,
        seed=seed,
        test_filter=part,
    )
