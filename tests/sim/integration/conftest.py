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
    if not hasattr(pytestconfig, "workerinput"):  # one process runs all tests
        return export_designs(preset("tiny"))
    shared = tmp_path_factory.getbasetemp().parent
    with (shared / "designs.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = shared / "designs.pickle"
        if not file.exists():
            file.write_bytes(pickle.dumps(export_designs(preset("tiny"))))
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
