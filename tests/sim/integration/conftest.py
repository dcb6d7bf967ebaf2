"""The export that the tests of this folder share."""

from pathlib import Path

import pytest

from flashtrain.sim.integration.package import IntegrationPackage, integration_package
from flashtrain.spec import preset


@pytest.fixture(scope="session")
def package() -> IntegrationPackage:
    return integration_package(preset("tiny"))


@pytest.fixture(scope="session")
def folder(package: IntegrationPackage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it is written: outside of the tree."""
    written = tmp_path_factory.mktemp("verilog")
    package.write(written)
    return written
