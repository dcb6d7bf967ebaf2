"""Steps of a training command sequence as JSON objects (`flashtrain.training.sequence.file`)."""

from typing import Any

from flashtrain.reading import Node
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.streams import Port
from flashtrain.training.sequence.steps import (
    Append,
    Compute,
    Initialise,
    Operation,
    Read,
    Repeat,
    Reset,
    Step,
    StreamRole,
    Update,
)

PORTS = {port.name.lower(): port for port in Port}
PROGRAMS = {code.name.lower(): code for code in OptimizerCode}
UP, DOWN = "up", "down"


def step_document(step: Step) -> dict[str, Any]:
    """The step as a JSON object."""
    match step:
        case Append():
            return {"step": "append", "tensor": step.tensor, "port": step.port.name.lower()}
        case Read():
            return {"step": "read", "tensor": step.tensor, "port": step.port.name.lower()}
        case Reset():
            return {"step": "reset", "stream": step.stream.value, "port": step.port.name.lower()}
        case Compute():
            return {
                "step": "compute",
                "operation": step.operation.value,
                "layer": step.layer,
                "takes": list(step.takes),
                "gives": list(step.gives),
                **({"flops": step.flops} if step.flops else {}),
                **({"seconds": step.seconds} if step.seconds else {}),
            }
        case Initialise():
            return {
                "step": "initialise",
                "tensors": list(step.tensors),
                "program": step.program.name.lower(),
                "port": step.port.name.lower(),
            }
        case Update():
            return {
                "step": "update",
                "tensors": list(step.tensors),
                "gradients": list(step.gradients),
                "constants": step.constants,
                "port": step.port.name.lower(),
            }
        case Repeat():
            return {
                "step": "repeat",
                "over": step.over,
                "order": DOWN if step.down else UP,
                "steps": [step_document(inner) for inner in step.steps],
            }


def parse_step(node: Node) -> Step:
    """The step of a JSON object. Raises `InputError` with the key of the fault."""
    kinds = {
        "append": _append, "read": _read, "reset": _reset, "compute": _compute,
        "initialise": _initialise, "update": _update, "repeat": _repeat,
    }  # fmt: skip
    return node.member("step").choice(kinds)(node)


def _append(node: Node) -> Step:
    _, tensor, port = node.keys("step", "tensor", "port")
    return Append(tensor.name(), port.choice(PORTS))


def _read(node: Node) -> Step:
    _, tensor, port = node.keys("step", "tensor", "port")
    return Read(tensor.name(), port.choice(PORTS))


def _reset(node: Node) -> Step:
    _, stream, port = node.keys("step", "stream", "port")
    return Reset(stream.member_of(StreamRole), port.choice(PORTS))


def _compute(node: Node) -> Step:
    _, operation, layer, takes, gives = node.keys(
        "step", "operation", "layer", "takes", "gives", optional=("flops", "seconds")
    )
    flops, seconds = node.optional("flops"), node.optional("seconds")
    return Compute(
        operation.member_of(Operation),
        layer.text(),
        takes.items(Node.name),
        gives.items(Node.name),
        flops.positive() if flops else 0,
        seconds.positive_number() if seconds else 0.0,
    )


def _initialise(node: Node) -> Step:
    _, tensors, program, port = node.keys("step", "tensors", "program", "port")
    return Initialise(tensors.items(Node.name), program.choice(PROGRAMS), port.choice(PORTS))


def _update(node: Node) -> Step:
    _, tensors, gradients, constants, port = node.keys("step", "tensors", "gradients", "constants", "port")
    return Update(tensors.items(Node.name), gradients.items(Node.name), constants.name(), port.choice(PORTS))


def _repeat(node: Node) -> Step:
    _, over, order, steps = node.keys("step", "over", "order", "steps")
    return Repeat(over.name(), steps.items(parse_step), order.choice({UP: False, DOWN: True}))
