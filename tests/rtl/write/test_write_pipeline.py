"""The write command pipeline, alone: channels and tensor buffer are models in the bench."""

from pathlib import Path

from flashtrain.rtl.write.pipeline import WritePipeline
from flashtrain.sim.runner import Simulator, run_bench
from flashtrain.spec import preset


def test_write_pipeline(simulator: Simulator, seed: int) -> None:
    run_bench(
        WritePipeline(preset("tiny")),
        "write_pipeline",
        Path(__file__).with_name("write_pipeline_bench.py"),
        simulator=simulator,
        seed=seed,
    )
