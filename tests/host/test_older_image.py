"""Images of an older version are read: streams, arrays by name, pins, checkpoints and objects.

`python -m tests.host.test_older_image FOLDER` writes such images. Those in `older` are by commit 60dc1055,
where the header of an image has no serial number and the names of objects stand once.
"""

import lzma
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flashtrain.checkpoint import AppendedCheckpoints, PinEveryCommit, PinnedCheckpoints, load, save
from flashtrain.host import Device, open_device
from flashtrain.objects.filesystem import FlashFileSystem
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.flash_optimizer import FlashOptimizer
from flashtrain.training.optimizers import Adam
from tests.nvme.helpers import serving

OLDER = Path(__file__).with_name("older")
ARRAYS = {
    "w/0": np.arange(700, dtype=np.float32).reshape(7, 100),
    "w/1": np.float32(3.5).reshape(()),
    "flags": np.arange(15) % 3 == 0,
    "none": np.empty((0, 3), np.float16),
}
OBJECTS = {"run/a": bytes(range(256)) * 10, "run/b": b"", "run/deep/c": b"flash"}
STEPS = 3


def write_names(device: Device) -> None:
    for name, array in ARRAYS.items():
        device.catalog[name] = array
    device.catalog["w/1"] = ARRAYS["w/1"] + 1
    del device.catalog["flags"]


def read_names(device: Device) -> None:
    expected = ARRAYS | {"w/1": ARRAYS["w/1"] + 1}
    del expected["flags"]
    assert sorted(device.catalog) == sorted(expected)
    assert all(same(device.catalog[name], array) for name, array in expected.items())


def write_training(device: Device) -> None:
    flash = FlashOptimizer([np.ones(1000, np.float32)], Adam(0.01), device, commits=PinEveryCommit())
    for gradient in gradients():
        flash.host_state = lambda: b"host"
        flash.step([gradient])
    save(AppendedCheckpoints(device), "first", 7, ARRAYS, b"state")


def read_training(device: Device) -> None:
    store = AppendedCheckpoints(device)
    assert [(one.name, one.step) for one in store.checkpoints] == [("first", 7)]
    found = load(store, "first")
    assert found.keys() == ARRAYS.keys() and all(same(found[name], ARRAYS[name]) for name in ARRAYS)
    weights = np.ones(1000, np.float32)
    flash = FlashOptimizer([weights], Adam(0.01), device, recovered=True, commits=PinEveryCommit())
    assert flash.host == b"host"
    assert PinnedCheckpoints(flash.state).checkpoints[-1].step == STEPS
    with open_device("tiny", node=UPDATE_NODE) as other:
        expected = np.ones(1000, np.float32)
        reference = FlashOptimizer([expected], Adam(0.01), other)
        for gradient in gradients():
            reference.step([gradient])
    assert same(weights, expected)


def write_objects(device: Device) -> None:
    with serving(device) as target:
        fs = FlashFileSystem(*target.address, skip_instance_cache=True)
        for path, content in OBJECTS.items():
            fs.pipe_file(f"objects/{path}", content)
        fs.close()


def read_objects(device: Device) -> None:
    with serving(device) as target:
        fs = FlashFileSystem(*target.address, skip_instance_cache=True)
        assert {path.removeprefix("objects/"): fs.cat_file(path) for path in fs.find("objects")} == OBJECTS
        fs.close()


CONTENTS: dict[str, tuple[object, Callable[[Device], None], Callable[[Device], None]]] = {
    "names": ("store", write_names, read_names),
    "training": (UPDATE_NODE, write_training, read_training),
    "objects": ("objects", write_objects, read_objects),
}
"""The node, and what writes and reads the content, by image."""


def gradients() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((STEPS, 1000), np.float32)


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    return (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


@pytest.mark.parametrize("orderly", [True, False], ids=["shutdown", "power-loss"])
@pytest.mark.parametrize("name", CONTENTS)
def test_an_older_image_is_read(name, orderly, tmp_path):
    node, _, read = CONTENTS[name]
    image = tmp_path / "flash.img"
    with lzma.open(OLDER / file_name(name, orderly)) as packed, image.open("wb") as file:
        shutil.copyfileobj(packed, file)
    with open_device(image=image, node=node, recover=True) as device:
        read(device)
        device.shutdown()
    with open_device(image=image, node=node, recover=True) as device:
        assert device.recovered.clean
        read(device)


def file_name(name: str, orderly: bool) -> str:
    return f"{name}-{'shutdown' if orderly else 'power-loss'}.img.xz"


def main(folder: Path) -> None:
    for name, (node, write, _) in CONTENTS.items():
        for orderly in (True, False):
            image = folder / "flash.img"
            with open_device("tiny", node=node, image=image) as device:
                write(device)
                if orderly:
                    device.shutdown()
            (folder / file_name(name, orderly)).write_bytes(lzma.compress(image.read_bytes(), preset=9))
            image.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
