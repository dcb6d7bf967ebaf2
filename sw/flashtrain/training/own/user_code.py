"""Errors in code of the user, as one line that names its place."""

import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flashtrain.training.errors import NetworkError

_FLASHTRAIN = Path(__file__).parents[2]


@contextmanager
def user_code(what: str) -> Iterator[None]:
    """Every exception in this block becomes a :class:`NetworkError` that begins with `what`."""
    try:
        yield
    except (Exception, SystemExit) as error:
        message = str(error).strip().partition("\n")[0]
        if isinstance(error, SyntaxError):
            message = error.msg
        kind = type(error).__name__
        place = _place(error)
        raise NetworkError(f"{what}: {f'{place}: ' if place else ''}{kind}: {message}") from error


def _place(error: BaseException) -> str:
    """File and line of the user's code that raised it; "" if none of it did."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{relative(Path(error.filename))}:{error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_installed(f.filename)]
    return f"{relative(Path(frames[-1].filename))}:{frames[-1].lineno}" if frames else ""


def relative(path: Path) -> Path:
    """The path from the current folder, if it is in it."""
    path, here = path.resolve(), Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _is_installed(file: str) -> bool:
    """Whether it belongs to Python, to a package that was installed, or to this one."""
    folders = [sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")]
    return file.startswith("<") or any(
        Path(file).is_relative_to(folder) for folder in [*folders, _FLASHTRAIN]
    )
