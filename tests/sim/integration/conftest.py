"""The export that the tests of this folder share; it is elaborated once, and is in the user's cache then."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.sim.integration.package import (
    Designs,
    IntegrationPackage,
    export_designs,
    integration_package,
)
from flashtrain.sim.verilator.verilated import exported
from flashtrain.spec import FmsConfig, preset


@pytest.fixture(scope="session")
def designs() -> Designs:
    return _exported_designs(None)


@pytest.fixture(scope="session")
def two_clocks() -> Designs:
    """A system clock that is slower than the NAND's. The benches update nothing, and most of a die does."""
    tiny = preset("tiny")
    config = replace(tiny, name="two_clocks", chips=replace(tiny.chips, update=False))
    return _exported_designs(250.0, config)


@pytest.fixture(scope="session")
def with_port() -> Designs:
    """With a command port for each channel, and two clocks."""
    return _exported_designs(250.0, replace(preset("tiny"), name="tiny_port", command_port=True))


@pytest.fixture(scope="session")
def drive() -> Designs:
    """With the function on PCI Express."""
    return _exported_designs(None, pcie=True)


def _exported_designs(
    system_mhz: float | None, config: FmsConfig | None = None, pcie: bool = False
) -> Designs:
    config, file = config or preset("tiny"), "designs.pickle"

    def write(folder: Path) -> None:
        (folder / file).write_bytes(pickle.dumps(export_designs(config, system_mhz, pcie=pcie)))

    key = f"{config!r} {system_mhz}" + (" pcie" if pcie else "")
    return pickle.loads((exported(write, "designs", key) / file).read_bytes())


@pytest.fixture(scope="session")
def package(designs: Designs) -> IntegrationPackage:
    return integration_package(designs)


@pytest.fixture(scope="session")
def folder(package: IntegrationPackage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it is written: outside of the tree."""
    written = tmp_path_factory.mktemp("verilog")
    package.write(written)
    return written
