"""`keep`: tensors that stay in memory."""

from contextlib import AbstractContextManager, ContextDecorator
from contextvars import ContextVar
from typing import TypeVar, overload

from torch import nn

M = TypeVar("M", bound=nn.Module)

_MARK = "_flashtrain_keep"
_depth = ContextVar("flashtrain_keep", default=0)


class _Keeping(ContextDecorator):
    def __enter__(self) -> None:
        _depth.set(_depth.get() + 1)

    def __exit__(self, *error: object) -> None:
        _depth.set(_depth.get() - 1)


@overload
def keep() -> AbstractContextManager[None]: ...
@overload
def keep(module: M) -> M: ...
def keep(module: nn.Module | None = None) -> nn.Module | AbstractContextManager[None]:
    """Let tensors stay in memory that are saved within the context, or in the forward pass of `module`.

    `with keep():` is a context, and `@keep()` the same for a function. `keep(module)` marks a module, copies
    of it included, and returns it.
    """
    if module is None:
        return _Keeping()
    setattr(module, _MARK, True)
    return module


def keeps_now() -> bool:
    """Whether the calling code is in a context of :func:`keep`."""
    return _depth.get() > 0


def is_kept(module: nn.Module) -> bool:
    """Whether :func:`keep` has marked the module."""
    return getattr(module, _MARK, False)
