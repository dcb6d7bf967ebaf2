"""Work of an optimizer step at each place, for the energy model."""

from flashtrain.spec import FmsConfig

from .energy import Work
from .update import Case


def work_on_dies(case: Case, parameters: int, programs: int, senses: int) -> Work:
    """Of a step on the dies, which programs and senses so many pages: only gradients and copies move."""
    return Work(
        programs=programs,
        senses=senses,
        channel_bytes=parameters * (case.gradient.bytes + case.copy.bytes),
        operations=parameters * case.operations,
    )


def work_in_controller(case: Case, parameters: int, programs: int, senses: int) -> Work:
    """Of a step in the controller: the state crosses the channels there and back."""
    return Work(
        programs=programs,
        senses=senses,
        channel_bytes=parameters * 2 * case.state_bytes,
        operations=parameters * case.operations,
    )


def work_on_host(case: Case, parameters: int, programs: int, senses: int) -> Work:
    """Of a step on the host: the state crosses channels and link there and back, with the gradients."""
    return Work(
        programs=programs,
        senses=senses,
        channel_bytes=parameters * 2 * case.state_bytes,
        link_bytes=parameters * (2 * case.state_bytes + case.gradient.bytes),
        host_operations=parameters * case.operations,
    )


def pages_of_tile(config: FmsConfig) -> int:
    """Pages that a tile takes, which are programmed once and sensed once in a step."""
    return config.geometry.planes
