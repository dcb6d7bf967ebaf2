"""Nothing that was written is lost in silence, on every Link: zones out of service, and pages that vanish.

A page of an image vanishes with its record, as in a unit of the file that a crash of the operating system
leaves without content.
"""

from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.host.image import open_image
from flashtrain.host.queues.command_errors import MediaError, UnwrittenBlock
from flashtrain.model import ModelLink
from flashtrain.nvme.client.host import CommandFailed
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import Opcode, Port, Status, ZoneState, preset
from flashtrain.spec.image import PAGE, UNIT, ImageLayout
from flashtrain.spec.streams import UPDATE_NODE
from tests.nvme.helpers import serving

TINY = preset("tiny")
G = TINY.geometry
LAYOUT = ImageLayout(G)
BEHIND = G.zone_capacity - 1
"""The last block of a zone."""


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "flash.img"


@pytest.fixture(params=[FunctionalLink, ModelLink, RtlLink], ids=["functional", "model", "rtl"])
def opened(request, path):
    """Opens the image with one Link, recovering what it holds."""

    @contextmanager
    def with_image():
        with open_device(TINY, request.param, UPDATE_NODE, 1 << 20, image=path) as device:
            yield device

    return with_image


def noise(random, page_bytes: int, blocks: int) -> np.ndarray:
    return random.integers(0, 256, blocks * page_bytes, np.uint8)


# Zones out of service.


@pytest.mark.parametrize("known", [True, False], ids=["known before the reset", "found after it"])
def test_a_read_only_zone_outlives_resets_and_recoveries(link, raw_of, random, known):
    """Its data stay what they are, whatever generation they belong to, and old data do not come back."""
    with open_device(link=link, node=UPDATE_NODE) as device:
        stream, size = device.stream("trained"), device.config.geometry.page_bytes
        stream.append(noise(random, size, 2))
        stream.reset()
        kept = noise(random, size, 3)
        stream.append(kept)
        if known:
            stream.retire_zone(0, ZoneState.READ_ONLY)
        else:
            command = dict(stream="trained", action=ZoneState.READ_ONLY)
            assert raw_of(device).status(Opcode.ZONE_RETIRE, **command) == Status.SUCCESS
        for turn in range(3):
            if turn < 2:
                stream.reset()
            stream.report()
            device.shutdown() if turn else device.disable()
            device.recover()
            zone = stream.report()[0]
            assert (zone.state, zone.written) == (ZoneState.READ_ONLY, 3)
            assert np.array_equal(stream.read_blocks(0, 3), kept)
            with pytest.raises(MediaError):
                stream.read_blocks(3, 1)  # it may have been written before the first end
        with pytest.raises(UnwrittenBlock):
            stream.read_blocks(device.config.geometry.zone_size, 1)


def test_an_empty_zone_out_of_service_stays_empty(link, random):
    with open_device(link=link, node=UPDATE_NODE) as device:
        stream = device.stream("trained")
        stream.append(noise(random, device.config.geometry.page_bytes, 3))
        stream.reset()
        stream.retire_zone(0, ZoneState.READ_ONLY)
        for _ in range(2):
            device.disable()
            device.recover()
            zone = stream.report()[0]
            assert (zone.state, zone.written, zone.sequence) == (ZoneState.READ_ONLY, 0, None)
            with pytest.raises(UnwrittenBlock):
                stream.read_blocks(0, 1)


# Blocks behind a recovered pointer.


def test_nobody_knows_what_was_behind_a_recovered_pointer(link, random):
    """Reads there are media errors until the zone is empty, but not of a zone that was finished in order."""
    with open_device(link=link, node=UPDATE_NODE) as device:
        stream, page = device.stream("trained"), device.config.geometry.page_bytes
        stream.append(noise(random, page, 3))
        device.disable()
        device.recover()
        second = device.config.geometry.zone_size
        assert stream.append(noise(random, page, 2)).lba == second
        stream.finish_zone(1)
        for orderly in (True, True, False):
            report = stream.report()
            assert [(zone.state, zone.written, zone.unsure) for zone in report[:2]] == [
                (ZoneState.FULL, 3, True),
                (ZoneState.FULL, 2, False),
            ]
            with pytest.raises(MediaError, match="UNRECOVERED_READ_ERROR"):
                stream.read_blocks(2, 2)
            with pytest.raises(UnwrittenBlock):
                stream.read_blocks(second + 1, 2)
            device.shutdown() if orderly else device.disable()
            assert device.recover().clean == orderly
        assert stream.report()[1].unsure
        stream.reset()
        for lba in (3, second + 2):
            with pytest.raises(UnwrittenBlock):
                stream.read_blocks(lba, 1)


# Pages that vanish from an image.


def units_with_pages(path: Path) -> list[int]:
    """Places of the units of page records that have any."""
    content = path.read_bytes()
    places = range(LAYOUT.pages_at, LAYOUT.cells_at, UNIT)
    return [place for place in places if any(content[place : place + UNIT])]


def record_of(physical: int, offset: int) -> int:
    """The place of the record of a page of a physical zone."""
    place = G.place(offset)
    number = LAYOUT.block(place.channel, place.die, place.plane, physical)
    return LAYOUT.page_record(number, place.page)


def lose(path: Path, place: int, size: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes(size))


def holes(path: Path) -> set[tuple[int, int]]:
    """Pages that were not programmed, in front of others of their block, by number of block and page."""
    with closing(open_image(path, TINY)) as image:
        pages = {
            number: [page.number for page in image.pages(number)] for number in range(LAYOUT.block_count)
        }
    return {
        (number, page)
        for number, programmed in pages.items()
        for page in set(range(max(programmed, default=0))) - set(programmed)
    }


def fill(device, random, blocks: int) -> np.ndarray:
    data = noise(random, G.page_bytes, blocks)
    device.stream("trained").append(data)
    return data


def checked(device, data: np.ndarray) -> int:
    """How many blocks of the data in zone 0 are lost; the others are right."""
    lost = 0
    for number, block in enumerate(data.reshape(-1, G.page_bytes)):
        try:
            assert np.array_equal(device.stream("trained").read_blocks(number, 1), block), number
        except MediaError:
            lost += 1
    return lost


def test_no_zone_with_a_damaged_block_takes_appends(opened, path, random, request):
    """After an orderly end any unit may be lost: the image opens, and no page is programmed out of order."""
    blocks = G.superpage + 3
    with opened() as device:
        data = fill(device, random, blocks)
        device.stream("inputs", Port.HOST).append(noise(random, G.page_bytes, 2))
        device.shutdown()
    whole, units = path.read_bytes(), units_with_pages(path)
    if "rtl" in request.node.name:
        units = units[:2]
    lost = []
    for unit in units:
        path.write_bytes(whole)
        lose(path, unit, UNIT)
        before = holes(path)
        with opened() as device:
            lost.append(checked(device, data))
            for name, port in (("trained", Port.CORE), ("inputs", Port.HOST)):
                device.stream(name, port).append(noise(random, G.page_bytes, G.superpage))
            device.shutdown()
        assert holes(path) <= before, f"unit at {unit:#x}"
    assert any(lost)


def test_a_zone_without_any_page_is_not_empty(opened, path, random):
    """After an orderly end the journal knows what it had."""
    with opened() as device:
        data = fill(device, random, 1)
        device.shutdown()
    with opened() as device:
        physical = next(owner.physical for owner in device.recovered.kept if owner.nsid == 3)
        device.shutdown()
    lose(path, record_of(physical, 0), PAGE.size)
    for _ in range(2):
        with opened() as device:
            assert checked(device, data) == 1
            zone = device.stream("trained").report()[0]
            assert (zone.state, zone.written) == (ZoneState.FULL, 1)
            device.shutdown()
    with opened() as device:
        device.stream("trained").reset()
        data = fill(device, random, 2)
        assert checked(device, data) == 0


@pytest.mark.parametrize("orderly", [True, False], ids=["orderly end", "loss of power"])
@pytest.mark.parametrize("offset", [0, G.superpage + 2, BEHIND], ids=["first", "middle", "last"])
def test_a_lost_page_of_a_full_zone_is_a_media_error(opened, path, random, orderly, offset):
    """To every host, also to one that takes zeros for unwritten blocks."""
    with opened() as device:
        data = fill(device, random, G.zone_capacity)
        if orderly:
            device.shutdown()
    with opened() as device:
        physical = next(owner.physical for owner in device.recovered.kept if owner.nsid == 3)
        if orderly:
            device.shutdown()
    lose(path, record_of(physical, offset), PAGE.size)
    with opened() as device:
        assert device.recovered.clean == orderly
        assert checked(device, data) == 1
        with pytest.raises(MediaError):
            device.stream("trained").read_blocks(offset, 1)
        with serving(device) as target, target.host() as host, pytest.raises(CommandFailed) as refused:
            host.read(3, offset, 1)
        assert refused.value.status == Status.UNRECOVERED_READ_ERROR
