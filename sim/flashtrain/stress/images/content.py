"""Images before their damage, and what a device must return from them."""

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, FunctionalLink, StoredArray, open_device
from flashtrain.host.image import open_image
from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.spec.streams import STORE_NODE

STREAM = "trained"
MEMORY_BYTES = 1 << 16
_ARRAYS = 5
_MOST_BYTES = 3000


@dataclass
class Compared:
    """Arrays that a device has returned as they were, or refused to return; and those that were wrong."""

    right: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)

    def read(self, name: str, read: Any, expected: NDArray[np.uint8]) -> None:
        try:
            found = read()
        except FlashtrainError:
            self.refused += 1
            return
        if np.array_equal(found, expected):
            self.right += 1
        else:
            self.wrong.append(f"{name}: other bytes than were stored")


@dataclass(frozen=True, eq=False)
class Content:
    """An image with arrays by handle and by name."""

    config: FmsConfig
    image: bytes
    stored: tuple[tuple[StoredArray, NDArray[np.uint8]], ...]
    named: dict[str, NDArray[np.uint8]]

    @classmethod
    def make(cls, config: FmsConfig, path: Path, random: Random) -> "Content":
        """Arrays of a device that was opened twice; its zones were reset, and some of its blocks are bad."""
        named: dict[str, NDArray[np.uint8]] = {}
        with FunctionalLink(config, MEMORY_BYTES) as link:
            link.use_image(open_image(path, config))
            g = config.geometry
            if g.spare_blocks:
                link.mark_block(0, 0, 1, random.randrange(g.zones), page=random.choice((0, g.pages - 1)))
            with open_device(link=link, node=STORE_NODE) as device:
                stream = device.stream(STREAM)
                for _ in range(random.randrange(3)):
                    stream.append(_array(random))
                    stream.reset()
                device.catalog["old"] = _array(random)
                if random.random() < 0.5:
                    link.pass_time(random.randrange(1000))
                device.shutdown()
        with open_device(config, FunctionalLink, STORE_NODE, MEMORY_BYTES, image=path) as device:
            arrays = [_array(random) for _ in range(_ARRAYS)]
            stored = tuple((device.stream(STREAM).append(array), array) for array in arrays)
            for number in range(_ARRAYS):
                named[f"array{number}"] = array = _array(random)
                device.catalog[f"array{number}"] = array
            del device.catalog["old"]
            if random.random() < 0.5:
                device.shutdown()
        image = path.read_bytes()
        path.unlink()
        return cls(config, image, stored, named)

    def compare(self, device: Device) -> Compared:
        """Read everything, and then an array that is new."""
        compared = Compared()
        for number, (handle, array) in enumerate(self.stored):
            compared.read(
                f"array {number} of {STREAM}", lambda h=handle: device.stream(STREAM).read(h), array
            )
        for name, array in self.named.items():
            compared.read(name, lambda n=name: device.catalog[n], array)
        new = np.arange(700, dtype=np.uint8)
        compared.read(
            "a new array", lambda: device.stream(STREAM).read(device.stream(STREAM).append(new)), new
        )
        return compared


def _array(random: Random) -> NDArray[np.uint8]:
    return np.frombuffer(random.randbytes(random.randrange(1, _MOST_BYTES)), np.uint8)
