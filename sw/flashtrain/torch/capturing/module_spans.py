"""The module that runs, and the autograd nodes that were created while it ran."""

from bisect import bisect_right
from types import TracebackType
from typing import Any, Self

from torch import nn
from torch._C._autograd import _get_sequence_nr
from torch.utils.hooks import RemovableHandle


class ModuleSpans:
    """While entered, follows the calls of the modules of a model.

    A *span* is the time between two calls or returns. Autograd numbers its nodes in the order of their
    creation, so a node belongs to the span in which its number was given.

    - `paths`: the path of the innermost module by span.
    """

    def __init__(self, model: nn.Module, name: str) -> None:
        self._modules = [(path or name, module) for path, module in model.named_modules()]
        self._stack: list[str] = []
        self._numbers: list[int] = []
        self._handles: list[RemovableHandle] = []
        self.paths: list[str] = []

    def __enter__(self) -> Self:
        for path, module in self._modules:
            # The first of all hooks before, the last of all hooks after: both belong to the module.
            before = module.register_forward_pre_hook(self._enter_hook(path), prepend=True)
            after = module.register_forward_hook(self._leave_hook, always_call=True)
            self._handles += [before, after]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._handles:
            handle.remove()

    @property
    def inside(self) -> bool:
        """Whether a module runs now."""
        return bool(self._stack)

    @property
    def current(self) -> int:
        """The span now."""
        return len(self.paths) - 1

    def begin(self, path: str) -> None:
        """A span outside of all modules begins."""
        self._begin(path)

    def of_node(self, node: Any) -> int | None:
        """The span in which an autograd node was created; None for one that was not created in any."""
        number = node._sequence_nr()
        if number > _get_sequence_nr():
            return None  # nodes that accumulate gradients have the highest number
        return max(0, bisect_right(self._numbers, number) - 1)

    def _begin(self, path: str) -> None:
        self._numbers.append(_get_sequence_nr())
        self.paths.append(path)

    def _enter_hook(self, path: str) -> Any:
        def enter(*_: Any) -> None:
            self._stack.append(path)
            self._begin(path)

        return enter

    def _leave_hook(self, *_: Any) -> None:
        self._stack.pop()
        if self._stack:
            self._begin(self._stack[-1])
