"""Content from a time when a stream had another codec: a decoder must refuse its pages, or may take them."""

from dataclasses import dataclass
from random import Random

import numpy as np

from flashtrain.spec import FmsConfig
from flashtrain.spec.codec import CHECK_BYTES, SLICE_BYTES, PageHeader, page_check
from flashtrain.spec.nvme import BitField
from flashtrain.spec.streams import Codec

from .oracle.coded import encoded
from .scene import Scene
from .tensors import tensor_bytes

_MOST_BLOCKS = 8
_APPENDS = 4
_FIELDS: dict[str, BitField] = {
    name: field for name, field in vars(PageHeader).items() if isinstance(field, BitField)
}
_CODED = tuple(codec for codec in Codec if codec is not Codec.RAW)


@dataclass(frozen=True)
class PlantedZone:
    """A zone with content.

    - `codec`: of its stream when the data were appended.
    - `appends`: the data of each append.
    - `lengths`: blocks that a read of an append with the present codec may expand to.
    - `full`: the zone takes no more appends.
    """

    nsid: int
    zone: int
    codec: Codec
    appends: tuple[bytes, ...]
    lengths: tuple[int, ...]
    full: bool


def planted_zones(random: Random, scene: Scene) -> list[PlantedZone]:
    """A zone of most streams, whose codec was another one."""
    rights = scene.around.rights
    planted = [_planted(random, scene, nsid) for nsid in rights if random.random() < 0.8]
    return [zone for zone in planted if zone.appends]


def _planted(random: Random, scene: Scene, nsid: int) -> PlantedZone:
    config, rights = scene.around.config, scene.around.rights[nsid]
    codec = random.choice([each for each in Codec if each is not rights.codec])
    if rights.encodes and random.random() < 0.6:
        codec = Codec.RAW
    appends, lengths = [], []
    left = config.geometry.zone_capacity
    for _ in range(random.randint(1, _APPENDS)):
        present = rights.codec if rights.encodes and random.random() < 0.8 else random.choice(_CODED)
        blocks = random.randint(1, min(_MOST_BLOCKS, config.max_blocks // 2))
        data = tensor_bytes(random, blocks * config.geometry.page_bytes)
        if codec is Codec.RAW:
            data = _looking_encoded(random, data, present, config)
        size = config.coded_bound(len(data) // config.geometry.page_bytes, codec)
        if size <= left:
            appends.append(data)
            lengths.append(blocks)
            left -= size
    return PlantedZone(
        nsid, random.randrange(rights.zones), codec, tuple(appends), tuple(lengths), random.random() < 0.5
    )


def _looking_encoded(random: Random, data: bytes, codec: Codec, config: FmsConfig) -> bytes:
    """The pages of an append of these data with this codec, most with something wrong in one of them."""
    size = config.geometry.page_bytes
    pages = list(encoded(data, codec, size))
    number = random.randrange(len(pages))
    match random.randrange(7):
        case 0:
            pass
        case 1:
            pages = [random.randbytes(size) for _ in pages]
        case 2:
            pages[number] = random.randbytes(size)
        case 3:
            value = int.from_bytes(pages[number], "little") ^ 1 << random.randrange(8 * size)
            pages[number] = value.to_bytes(size, "little")
        case 4 | 5:
            pages[number] = _with_other_header(random, pages[number])
        case 6:
            pages = [_random_with_header(random, codec, len(data), size)]
    return b"".join(pages)


def _with_other_header(random: Random, page: bytes) -> bytes:
    """A field is another one, and the check of the page is right."""
    value = int.from_bytes(page, "little")
    field = random.choice(list(_FIELDS.values()))
    right = field.get(value)
    other = random.choice([right + 1, right - 1, 2 * right, 0, -1, random.getrandbits(field.width)])
    value ^= field.put(right) ^ field.put(other & (1 << field.width) - 1)
    return _checked(value.to_bytes(len(page), "little"))


def _random_with_header(random: Random, codec: Codec, length: int, size: int) -> bytes:
    """Random planes and payload behind a right header, of an append with as many slices, on a single page."""
    h = PageHeader
    slices = length // SLICE_BYTES // (2 if codec is Codec.ROUND16 else 1)
    header = (
        h.magic.put(h.MAGIC) | h.version.put(h.VERSION) | h.codec.put(codec)
        | h.mode.put(random.randrange(1 << h.mode.width)) | h.last.put(1)
        | h.base.put(random.getrandbits(h.base.width)) | h.total.put(slices) | h.slices.put(slices)
    )  # fmt: skip
    source = np.random.default_rng(random.getrandbits(32))
    ones = source.random((size - h.BYTES, 8)) < random.choice([0.02, 0.2, 0.5])
    return _checked(header.to_bytes(h.BYTES, "little") + np.packbits(ones, axis=1).tobytes())


def _checked(page: bytes) -> bytes:
    body = page[:-CHECK_BYTES]
    return body + page_check(body).to_bytes(CHECK_BYTES, "little")
