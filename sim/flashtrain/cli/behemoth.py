"""`flashtrain sequence behemoth`: the training command sequences of Behemoth's workloads."""

import argparse

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.workloads import (
    WORKLOADS,
    TrafficChoices,
    Workload,
    behemoth_workload,
    workload_sequence,
)
from flashtrain.training.sequence import save_sequence

from .command import add_json, at_least_one
from .console import Console
from .outputs import output_file


def add_behemoth(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser("behemoth", help="make the sequence of a workload of Behemoth; or list them")
    parser.add_argument("family", nargs="?", help="gpt or t5; without it, the workloads are listed")
    parser.add_argument("size", nargs="?", help="row of the published table, such as 2x4")
    parser.add_argument("--phi", type=float, metavar="X", help="share of the activations that is stored")
    parser.add_argument(
        "--shrink", type=at_least_one, default=1, metavar="N",
        help="divide all tensors by N, so that small devices can replay the sequence (default: 1)",
    )  # fmt: skip
    parser.add_argument("--out", type=output_file, metavar="FILE", help="file to write")
    parser.set_defaults(action=_behemoth)
    add_json(parser)


def chosen_workload(family: str, size: str | None, phi: float | None) -> Workload:
    """The workload of a command line; `PlatformError` names the known ones."""
    if size is None:
        raise PlatformError(f"no row after {family!r}; expected one such as 2x4")
    workload = behemoth_workload(f"{family} {size}")
    return workload if phi is None else workload.with_phi(phi)


def _behemoth(options: argparse.Namespace, console: Console) -> int:
    if options.family is None:
        if options.out is not None:
            raise PlatformError("--out without a workload; expected one such as gpt 2x4")
        console.say(workload_table(list(WORKLOADS.values())))
        console.document({"workloads": [workload_document(w) for w in WORKLOADS.values()]})
        return 0
    workload = chosen_workload(options.family, options.size, options.phi).shrunk(options.shrink)
    choices = TrafficChoices(input_bytes=max(1, TrafficChoices().input_bytes // options.shrink))
    sequence = workload_sequence(workload, choices)
    console.say(workload_table([workload]))
    console.say(f"{sequence.iteration_steps:,} steps per iteration without its loops")
    document = workload_document(workload) | {"steps": sequence.iteration_steps}
    if options.out is not None:
        save_sequence(sequence, options.out)
        console.say(f"{options.out}: {options.out.stat().st_size:,} bytes")
        document["file"] = str(options.out)
    console.document(document)
    return 0


def workload_table(workloads: list[Workload]) -> str:
    """Totals and the values of a layer, one line for each workload."""
    lines = [
        f"{'':10} {'all layers':>34} {'':6} {'each layer':>44}",
        f"{'workload':10} {'weights GB':>11} {'act. GB':>9} {'PFLOP':>12} {'layers':>6} {'parts':>6}"
        f" {'parameters':>14} {'act. bytes':>16} {'TFLOP':>9} {'phi':>6}",
    ]
    for w in workloads:
        lines.append(
            f"{w.name:10} {w.total_weight_bytes / 1e9:11.4g} {w.total_activation_bytes / 1e9:9.4g}"
            f" {w.total_flops / 1e15:12.4g} {w.layers:6} {w.micro_batches:6} {w.parameters:14,}"
            f" {w.activation_bytes:16,} {w.flops / 1e12:9.4g} {w.phi:6.3f}"
        )
    return "\n".join(lines)


def workload_document(workload: Workload) -> dict[str, object]:
    return {
        "workload": workload.name,
        "layers": workload.layers,
        "micro_batches": workload.micro_batches,
        "layer": {
            "parameters": workload.parameters,
            "weight_bytes": workload.weight_bytes,
            "gradient_bytes": workload.weight_bytes,
            "activation_bytes": workload.activation_bytes,
            "flops": workload.flops,
        },
        "phi": workload.phi,
    }
