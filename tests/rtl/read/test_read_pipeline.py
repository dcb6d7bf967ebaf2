"""The read command pipeline, alone: channels and tensor buffer are models in the bench."""

from pathlib import Path

from flashtrain.rtl.read.pipeline import ReadPipeline
from flashtrain.sim.runner import Simulator, run_bench
from flashtrain.spec import preset


def test_read_pipeline(simulator: Simulator, seed: int) -> None:
    run_bench(
        ReadPipeline(preset("tiny")),
        "read_pipeline",
        Path(__file__).with_name("read_pipeline_bench.py"),
        simulator=simulator,
        seed=seed,
    )
