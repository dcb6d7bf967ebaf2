"""Models to capture by name: a network of the catalogue, or a function of the user."""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from flashtrain.spec import FlashtrainError
from flashtrain.torch.capturing.capture import Capture, capture
from flashtrain.torch.capturing.meta import built_on_meta, move_to_meta
from flashtrain.torch.errors import CaptureError
from flashtrain.torch.networks import NETWORKS, TrainingCase, build

DEFAULT_BATCH = 8
"""Examples of a network of the catalogue."""


def capture_target(
    target: str, batch: int = 0, meta: bool = False, measured: int = 0, with_ratios: bool = False
) -> Capture:
    """Build and capture `target`: a name of `flashtrain.torch.networks`, or ``MODULE:FUNCTION``.

    The function returns model, loss and inputs (`capture`). It is called with the keyword `batch` if that is
    not 0. With `meta` it is called with PyTorch's meta device as the default, and its model and inputs are
    moved there. A network is on the meta device unless something is to be measured.

    Errors of the target's own code are `CaptureError` with the original as the cause.
    """
    if target in NETWORKS:
        meta = meta or not (measured or with_ratios)
        batch = batch or DEFAULT_BATCH

        def function() -> object:
            return build(target, batch)
    elif ":" in target:
        function = _with_batch(target, _function(target), batch)
    else:
        raise CaptureError(f"{target!r}: expected MODULE:FUNCTION, or one of {', '.join(NETWORKS)}")
    building = partial(built_on_meta, target, function) if meta else function
    case = _case(target, _called(target, "building it", building))
    with torch.device("meta") if meta else nullcontext():
        if meta:
            move_to_meta(case.model)
            inputs = tree_map_only(torch.Tensor, lambda tensor: tensor.to("meta"), case.inputs)
            case = TrainingCase(case.model, case.loss, inputs)
        return _called(
            target,
            "its iteration",
            lambda: capture(*case, name=target, batch=batch, measured=measured, with_ratios=with_ratios),
        )


def _function(target: str) -> Callable[..., object]:
    name, _, function = target.partition(":")
    if not name or not function:
        raise CaptureError(f"{target!r}: expected MODULE:FUNCTION")
    with _from_here():
        try:
            module = import_module(name)
        except Exception as error:
            missing = error.name if isinstance(error, ModuleNotFoundError) else None
            if missing and f"{name}.".startswith(f"{missing}."):
                raise CaptureError(
                    f"{target}: no module {missing!r}; expected one in {Path.cwd()} or an installed one"
                ) from error
            raise _of_target(target, "importing it", error) from error
    found = getattr(module, function, None)
    if not callable(found):
        known = [
            n for n, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == name
        ]
        raise CaptureError(
            f"{target}: module {name} has no function {function!r}; its functions:"
            f" {', '.join(known) or 'none'}"
        )
    return found


def _with_batch(target: str, function: Callable[..., object], batch: int) -> Callable[[], object]:
    if not batch:
        return function
    parameters = inspect.signature(function).parameters.values()
    if not any(p.name == "batch" or p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        raise CaptureError(f"{target}: a batch of {batch}, but no parameter `batch`; expected one")
    return lambda: function(batch=batch)


def _case(target: str, result: object) -> TrainingCase:
    if not isinstance(result, tuple | list) or len(result) != 3:
        got = f"{len(result)} values" if isinstance(result, tuple | list) else f"a {type(result).__name__}"
        raise CaptureError(f"{target} returns {got}; expected model, loss and inputs")
    case = TrainingCase(*result)
    if not isinstance(case.model, torch.nn.Module):
        raise CaptureError(
            f"{target}: the model is a {type(case.model).__name__}; expected a torch.nn.Module"
        )
    return case


def _called(target: str, what: str, function: Callable[[], Any]) -> Any:
    try:
        return function()
    except FlashtrainError:
        raise
    except Exception as error:
        raise _of_target(target, what, error) from error


def _of_target(target: str, what: str, error: Exception) -> CaptureError:
    return CaptureError(f"{target}: {what} raised {type(error).__name__}: {error}")


@contextmanager
def _from_here() -> Iterator[None]:
    """Modules of the current folder can be imported, as with `python -m`."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
