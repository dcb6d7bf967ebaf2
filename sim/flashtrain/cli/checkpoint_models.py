"""`flashtrain checkpoint models`: the sizes of the poster's nine models."""

import argparse

from flashtrain.checkpoint.models.model_file import MODELS_FILE, load_models, save_models
from flashtrain.checkpoint.models.training_model import BATCHES, TrainingModel, training_model

from .command import add_json
from .console import Console, table
from .outputs import output_file

COLUMNS = (
    "model", "parameters", "tensors", "checkpoint MB", "GFLOP/example", "batch", "saved MB", "memory MB",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--capture", type=output_file, metavar="FILE",
        help="capture the models from their definitions, and write them to FILE",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    path = options.capture or MODELS_FILE
    if options.capture:
        from flashtrain.torch.capturing.model_sizes import captured_models  # takes seconds to import

        console.step(f"one iteration of {len(BATCHES)} models at two batches")
        save_models(captured_models(BATCHES), path)
    captured = load_models(path)
    models = [training_model(sizes, BATCHES[sizes.name]) for sizes in captured.models]
    console.say(table(COLUMNS, [_row(model) for model in models]))
    console.say(f"\n{captured.source}")
    console.document({"source": captured.source, "models": {model.name: _figures(model) for model in models}})
    return 0


def _figures(model: TrainingModel) -> dict[str, float]:
    return {
        "parameters": model.parameters,
        "tensors": model.tensors,
        "checkpoint_bytes": model.state_bytes(),
        "flops_per_example": model.flops_per_example,
        "batch": model.batch,
        "saved_bytes": model.saved_bytes,
        "memory_bytes": model.memory_bytes(),
    }


def _row(model: TrainingModel) -> tuple[str, ...]:
    return (
        model.name,
        f"{model.parameters:,}",
        f"{model.tensors}",
        f"{model.state_bytes() / 1e6:,.1f}",
        f"{model.flops_per_example / 1e9:,.1f}",
        f"{model.batch}",
        f"{model.saved_bytes / 1e6:,.0f}",
        f"{model.memory_bytes() / 1e6:,.0f}",
    )
