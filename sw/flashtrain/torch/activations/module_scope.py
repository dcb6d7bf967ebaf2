"""The module in whose forward pass a tensor is saved."""

from collections.abc import Callable
from threading import get_ident
from typing import Any
from weakref import WeakKeyDictionary

from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from .keep import is_kept

OUTSIDE = "(no module)"


class ModuleScope:
    """Follows the calls of modules in one thread, between :meth:`start` and :meth:`stop`.

    entered: called with each module that no other module has called, before its forward pass.
    """

    def __init__(self, entered: Callable[[nn.Module], None]) -> None:
        self._entered = entered
        self._thread = 0
        self._calls: list[nn.Module] = []
        self._names: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
        self._prefixes: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
        self._handles: list[Any] = []

    @property
    def path(self) -> str:
        """The name of the innermost module, as `named_modules` of the first outermost one has it.

        Names below other outermost modules begin with the class of these.
        """
        if not self._calls:
            return OUTSIDE
        module = self._calls[-1]
        return self._names.get(module, type(module).__name__)

    @property
    def keeps(self) -> bool:
        """Whether the module, or one that has called it, is marked by `keep`."""
        return any(is_kept(module) for module in self._calls)

    def start(self) -> None:
        self._thread = get_ident()
        self._handles = [
            register_module_forward_pre_hook(self._enter),
            register_module_forward_hook(self._leave, always_call=True),  # also of one that raises
        ]

    def stop(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._calls.clear()

    def _enter(self, module: nn.Module, args: object) -> None:
        if get_ident() != self._thread:
            return
        if not self._calls:
            self._name(module)
            self._entered(module)
        self._calls.append(module)

    def _name(self, outermost: nn.Module) -> None:
        kind = type(outermost).__name__
        if outermost not in self._prefixes:
            # A part of a named module has its name already, such as in a checkpoint.
            self._prefixes[outermost] = self._names.get(outermost, kind if self._names else "")
        prefix = self._prefixes[outermost]
        for name, module in outermost.named_modules():
            self._names.setdefault(module, ".".join(filter(None, (prefix, name))) or kind)

    def _leave(self, module: nn.Module, args: object, output: object) -> None:
        # A module that was entered before `start` leaves, too.
        if get_ident() == self._thread and self._calls and self._calls[-1] is module:
            self._calls.pop()
