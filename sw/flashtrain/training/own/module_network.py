"""A network by the name of its module: `MODULE:NAME`."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from flashtrain.training.errors import NetworkError
from flashtrain.training.networks import Network
from flashtrain.training.own.user_code import user_code


def load_network(reference: str) -> Network:
    """The network NAME of MODULE: a path that ends in `.py`, or a dotted name of a module.

    Modules are found in the current folder, too. NAME is a `Network`, or a callable without arguments that
    returns one. :class:`NetworkError` says in one line what is wrong, and where in the user's file.
    """
    source, _, name = reference.rpartition(":")
    if not source or not name.isidentifier():
        raise NetworkError(
            f"{reference!r} is no MODULE:NAME, such as my/net.py:NETWORK or package.module:NETWORK"
        )
    folder = Path(source).resolve().parent if _is_path(source) else Path.cwd()
    with _importing_from(folder):
        module = _from_file(Path(source)) if _is_path(source) else _by_name(source)
        if not hasattr(module, name):
            names = [key for key, value in vars(module).items() if isinstance(value, Network)]
            found = f"its networks are {', '.join(names)}" if names else "it has no networks"
            raise NetworkError(f"{source} has no {name}; {found}")
        found = getattr(module, name)
        if isinstance(found, Network):
            return found
        if not callable(found):
            raise NetworkError(f"{reference} is a {type(found).__name__}; {_EXPECTED}")
        with user_code(f"{reference}()"):
            made = found()
    if not isinstance(made, Network):
        raise NetworkError(f"{reference}() returns a {type(made).__name__}; {_EXPECTED}")
    return made


_EXPECTED = "expected a Network, or a callable that returns one"


def _is_path(source: str) -> bool:
    return source.endswith(".py")


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise NetworkError(f"{path}: no such file")
    name = f"flashtrain_network_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None and spec.loader is not None, "the path ends in .py"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    with user_code(str(path)):
        spec.loader.exec_module(module)
    return module


def _by_name(name: str) -> ModuleType:
    importlib.invalidate_caches()
    with user_code(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            missing = error.name
    raise NetworkError(
        f"there is no module {missing}, neither in {Path.cwd()} nor installed; a file is given with its .py"
    )


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """Modules of `folder` are found first."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
