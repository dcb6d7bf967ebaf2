"""The export that the tests of this folder share, in all processes of a session."""

import fcntl
import pickle
from pathlib import Path

import pytest

from flashtrain.sim.integration.package import (
    Designs,
    IntegrationPackage,
    export_designs,
    integration_package,
)
from flashtrain.spec import preset


@pytest.fixture(scope="session")
def designs(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Designs:
    return _shared_designs(tmp_path_factory, pytestconfig, None)


@pytest.fixture(scope="session")
def two_clocks(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Designs:
    """A system clock that is slower than the NAND's."""
    return _shared_designs(tmp_path_factory, pytestconfig, 250.0)


def _shared_designs(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config, system_mhz: float | None
) -> Designs:
    if not hasattr(pytestconfig, "workerinput"):  # one process runs all tests
        return export_designs(preset("tiny"), system_mhz)
    shared, name = tmp_path_factory.getbasetemp().parent, f"designs-{system_mhz}"
    with (shared / f"{name}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = shared / f"{name}.pickle"
        if not file.exists():
            file.write_bytes(pickle.dumps(export_designs(preset("tiny"), system_mhz)))
        return pickle.loads(file.read_bytes())


@pytest.fixture(scope="session")
def package(designs: Designs) -> IntegrationPackage:
    return integration_package(designs)


@pytest.fixture(scope="session")
def folder(package: IntegrationPackage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it is written: outside of the tree."""
    written = tmp_path_factory.mktemp("verilog")
    package.write(written)
    return written
