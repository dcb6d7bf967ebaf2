"""The export that the tests of this folder share."""

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
def designs() -> Designs:
    return export_designs(preset("tiny"))


@pytest.fixture(scope="session")
def package(designs: Designs) -> IntegrationPackage:
    return integration_package(designs)


@pytest.fixture(scope="session")
def folder(package: IntegrationPackage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it is written: outside of the tree."""
    written = tmp_path_factory.mktemp("verilog")
    package.write(written)
    return written
