"""Images that several tests inspect; a test that changes one makes a copy."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from flashtrain.checkpoint.pins.pin_every_commit import PinEveryCommit
from flashtrain.host import FunctionalLink, open_device
from flashtrain.host.image import open_image, view_image
from flashtrain.inspection import inspect, inspected
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.spec import Port, preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.data import digits
from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.networks import mlp
from flashtrain.training.optimizers import Adam
from flashtrain.training.tensors import DeviceStorage

WIDE = replace(preset("tiny"), name="wide", geometry=replace(preset("tiny").geometry, blocks=40))
MARKED, BROKEN = (0, 0, 1, 3), (1, 0, 0, 5)
"""Channel, die, plane and block of the bad blocks of `worn_image`."""


@pytest.fixture(scope="session")
def trained_image(tmp_path_factory):
    """After a training on the dies, a checkpoint by each commit, and an orderly end."""
    path = tmp_path_factory.mktemp("trained") / "trained.img"
    with open_device(WIDE, node=UPDATE_NODE, image=path) as device:
        assert isinstance(device.link, FunctionalLink)
        device.link.pass_time(100)
        storage = DeviceStorage.on(device, PinEveryCommit())
        train_through_flash(mlp(8), digits(), Adam(), 16, 6, 1, storage)
        device.link.pass_time(500)
        device.shutdown()
    return path


@pytest.fixture(scope="session")
def worn_image(tmp_path_factory):
    """With a code, a block with a factory mark, a block that breaks, and an end without a shutdown."""
    path, config = tmp_path_factory.mktemp("worn") / "worn.img", TINY_FULL
    with FunctionalLink(config) as link:
        link.use_image(open_image(path, config))
        link.mark_block(*MARKED)
        link.break_block(*BROKEN)
        with open_device(link=link, factory=False) as device:
            g = config.geometry
            data = np.random.default_rng(1).integers(
                0, 256, 7 * g.zone_capacity * g.page_bytes // 4, np.uint8
            )
            for _ in range(12):
                activations = device.stream("activations")
                activations.append(data)
                activations.reset()
            device.stream("inputs", Port.HOST).append(data[: len(data) // 2])
    return path


@pytest.fixture
def spoilt_image(worn_image, copy_of):
    """With a wrong bit, which the code corrects, and a page with too many, in zone 0 of the inputs."""
    path = copy_of(worn_image)
    with inspected(path) as image:
        zone = next(zone for zone in inspect(image).content.zones if zone.stream == "inputs")
    assert zone.zone == 0 and zone.physical is not None
    _, view = view_image(path)
    block = view.layout.block(1, 0, 1, zone.physical)
    one, many = (view.layout.cells(block, page) for page in (0, 1))
    view.close()
    with path.open("r+b") as file:
        for at, flips in ((one, b"\1"), (many, bytes([0x5A]) * 64)):
            file.seek(at)
            raw = file.read(len(flips))
            file.seek(at)
            file.write(bytes(byte ^ flip for byte, flip in zip(raw, flips, strict=True)))
    return path


@pytest.fixture
def copy_of(tmp_path):
    """Copies an image for a test that changes it."""

    def copy(path):
        return shutil.copy(path, tmp_path / path.name)

    return copy
