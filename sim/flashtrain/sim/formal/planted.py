"""Designs with a bug planted in them, or a constant made small."""

import inspect
from types import ModuleType
from typing import Any


class PlantError(ValueError):
    """The text to be replaced does not stand in the unit's file, or more than once."""


def planted(unit: type, *changes: tuple[str, str]) -> Any:
    """The class `unit` as it would be with other text in its file: for each change what stands there, once,
    and what stands there instead."""
    module = inspect.getmodule(unit)
    assert module is not None
    source = inspect.getsource(module)
    for right, wrong in changes:
        if source.count(right) != 1:
            count = source.count(right)
            raise PlantError(f"{right!r} stands {count} times in {module.__name__}, not once: plant anew")
        source = source.replace(right, wrong)
    mutant = ModuleType(module.__name__)
    mutant.__package__ = module.__package__
    mutant.__file__ = module.__file__
    exec(compile(source, f"<{module.__name__}, changed>", "exec"), mutant.__dict__)
    return getattr(mutant, unit.__name__)
