"""A file of the RTL's values for the runs of `model_error`. They hold while the sources are the same."""

import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from flashtrain import host, numerics, rtl, spec, training
from flashtrain.native.build_cache import content_key
from flashtrain.perf import append, feed, update
from flashtrain.perf.codec import contents
from flashtrain.perf.model_error import observe, workloads
from flashtrain.perf.model_error.point import Observation, Quantity, Run
from flashtrain.perf.model_error.runs import configurations
from flashtrain.reading import InputError, read_json
from flashtrain.writing import write_text

from .device import memory_bytes

MODULES = (append, contents, feed, observe, update)
"""Modules that it depends on outside of `source_packages`."""


@cache
def sources_key() -> str:
    """A name for the content of all these sources."""
    files = [file for package in source_packages() for file in files_of(package)]
    files += [Path(str(module.__file__)) for module in MODULES]
    return content_key(*(part for file in files for part in (file.name, file.read_bytes())))


def source_packages() -> tuple[ModuleType, ...]:
    """Packages that a run on the RTL depends on: the device, its simulation, the driver, and the commands."""
    # Late: the hardware's language takes a moment to import.
    from flashtrain.sim import link, nand, partition, verilator

    return spec, rtl, link, nand, partition, verilator, host, numerics, training, workloads


def files_of(package: ModuleType) -> list[Path]:
    """The sources in the folder of a package and below."""
    folder = Path(str(package.__file__)).parent
    return [file for file in sorted(folder.rglob("*")) if file.suffix in (".py", ".sv", ".cpp", ".h")]


class RtlResults:
    """Observations in `path` by run. A run with other sources, configuration or parameters is another one.

    :class:`InputError` if there is a file that holds something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._by_key = _read(path)
        self._configurations = configurations()

    def get(self, run: Run) -> Observation | None:
        """The observation of this run; None if there is none."""
        found = self._by_key.get(self._key(run))
        if found is None:
            return None
        values = {quantity: found["values"][quantity.title] for quantity in run.workload.quantities}
        return Observation(values, found["cycles"], found["seconds"])

    def put(self, run: Run, observation: Observation) -> None:
        """Written at once: all runs take a while."""
        self._by_key[self._key(run)] = {
            "run": run.name,
            "sources": sources_key(),
            "values": {quantity.title: value for quantity, value in observation.values.items()},
            "cycles": observation.cycles,
            "seconds": observation.seconds,
        }
        write_text(self._path, json.dumps(self._by_key, indent=1) + "\n")

    def _key(self, run: Run) -> str:
        config = self._configurations[run.configuration]
        return content_key(repr(config), str(memory_bytes(config)), repr(run.workload), sources_key())


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    documents = read_json(path)
    names = {"values": dict, "cycles": int, "seconds": float}
    if not isinstance(documents, dict) or not all(
        isinstance(one, dict) and all(isinstance(one.get(name), kind) for name, kind in names.items())
        and all(title in {quantity.title for quantity in Quantity} for title in one["values"])
        for one in documents.values()
    ):  # fmt: skip
        raise InputError(path, "expected results of the RTL for model_error, an object for each run")
    return documents
