"""A Dask cluster as a pool. Dask is imported only here, and only when a scheduler is named."""

import importlib
import logging
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from .errors import SweepError, SweepStopped
from .point import Outcome, Point
from .pools import Run

SECONDS_TO_CONNECT = 10


class DaskPool:
    """The workers of the scheduler at `address`, `tcp://HOST:PORT`; use it in a `with` statement.

    A point whose worker ends before its result is fetched goes to another worker.
    Raises `SweepError` if there is no such scheduler.
    """

    def __init__(self, address: str) -> None:
        self._distributed = _distributed()
        # Its messages would cut through the progress; what they say is raised as well.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            self._client: Any = self._distributed.Client(
                address, timeout=SECONDS_TO_CONNECT, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise SweepError(
                f"--scheduler {address}: {_first_line(error)}; expected a Dask scheduler, tcp://HOST:PORT"
            ) from error

    def outcomes(self, run: Run, points: Sequence[Point]) -> Iterator[Outcome]:
        futures = self._client.map(run, points, pure=False)
        keys = {future.key: point.key for future, point in zip(futures, points, strict=True)}
        # Not with their results: one that is lost on its way would never be told as complete.
        completed = self._distributed.as_completed(futures, loop=self._client.loop)
        del futures  # a result that nobody holds is not computed again when its worker ends
        for future in completed:
            try:
                yield future.result()  # waits for another worker if that of the result has ended
            except Exception as error:
                if future.status != "error":
                    raise SweepStopped(
                        f"the scheduler is gone (a job is {future.status}); the same command continues with"
                        " the other points"
                    ) from error
                yield Outcome(keys[future.key], "", 0.0, {}, f"{type(error).__name__}: {_first_line(error)}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise SweepError(
            "--scheduler needs Dask; expected the extra 'sweep' (pip install 'flashtrain[sweep]')"
        ) from error


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
