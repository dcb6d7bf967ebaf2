"""The module in whose forward pass a tensor is saved."""

import warnings
from collections import Counter
from collections.abc import Callable
from threading import current_thread, get_ident
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch._C import _autograd
from torch.compiler import is_compiling
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from .keep import is_kept

OUTSIDE = "(no module)"


class ModuleScope:
    """Follows the calls of modules in one thread, between :meth:`start` and :meth:`stop`.

    entered: called with each module that no other module has called, before its forward pass.

    Members
    -------
    elsewhere: modules to train that another thread has called, each with the name of the thread. Autograd's
        hooks belong to one thread. A thread with hooks of its own is left out.
    """

    def __init__(self, entered: Callable[[nn.Module], None]) -> None:
        self._entered = entered
        self._thread = 0
        self._calls: list[nn.Module] = []
        self._depths: Counter[int] = Counter()  # of calls in other threads
        self.elsewhere: dict[str, str] = {}
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
        self._depths.clear()

    def _enter(self, module: nn.Module, args: object) -> None:
        if is_compiling():
            return  # the compiled code has no calls of modules
        if (thread := get_ident()) != self._thread:
            self._depths[thread] += 1
            if self._depths[thread] == 1:
                self._note_elsewhere(module)
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
        if is_compiling():
            return
        # A module that was entered before `start` leaves, too.
        if (thread := get_ident()) != self._thread:
            self._depths[thread] -= self._depths[thread] > 0
        elif self._calls and self._calls[-1] is module:
            self._calls.pop()

    def _note_elsewhere(self, module: nn.Module) -> None:
        is_trained = torch.is_grad_enabled() and any(p.requires_grad for p in module.parameters())
        if not is_trained or _autograd._top_saved_tensors_default_hooks(True) is not None:
            return
        name, thread = self._names.get(module, type(module).__name__), current_thread().name
        if name not in self.elsewhere:
            self.elsewhere[name] = thread
            warnings.warn(
                f"module {name!r} was called in thread {thread!r}; its activations stay in memory, for the"
                " hooks are those of the thread that has entered the context",
                RuntimeWarning,
                stacklevel=2,
            )
