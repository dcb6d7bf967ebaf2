"""Designs with a bug planted in them."""

import inspect
from types import ModuleType
from typing import Any


def planted(unit: type, right: str, wrong: str) -> Any:
    """The class `unit` as it would be if `right`, which stands once in its file, were `wrong`."""
    module = inspect.getmodule(unit)
    assert module is not None
    source = inspect.getsource(module)
    if source.count(right) != 1:
        raise ValueError(
            f"{right!r} stands {source.count(right)} times in {module.__name__}, not once: plant anew"
        )
    mutant = ModuleType(module.__name__)
    mutant.__package__ = module.__package__
    mutant.__file__ = module.__file__
    exec(compile(source.replace(right, wrong), f"<{module.__name__}, bug planted>", "exec"), mutant.__dict__)
    return getattr(mutant, unit.__name__)
