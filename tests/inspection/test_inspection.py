"""Inspection of images: zones, streams, health, journal, catalogue and scrubs."""

import json

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.host.image import open_image, view_image
from flashtrain.inspection import InspectionError, inspect, inspected, link_scrub, scrub
from flashtrain.inspection.physical_zones import Use
from flashtrain.inspection.wear import Wear
from flashtrain.spec import Access, Port, ZoneState, preset
from flashtrain.spec.streams import STORE_NODE, UPDATE_NODE, Retention

from .conftest import BROKEN, MARKED


@pytest.fixture(scope="module")
def trained(trained_image):
    with inspected(trained_image) as image:
        yield inspect(image)


@pytest.fixture(scope="module")
def worn(worn_image):
    with inspected(worn_image) as image:
        yield inspect(image)


def test_zones_are_those_that_the_next_opening_finds(trained, trained_image, copy_of):
    with open_device(image=copy_of(trained_image), node=UPDATE_NODE) as device:
        for table in UPDATE_NODE.streams:
            if table is UPDATE_NODE.journal:
                continue  # the opening itself has appended to it
            port = next(port for port in Port if table.access(port))
            own = [zone for zone in trained.content.zones if zone.stream == table.name]
            report = device.stream(table.name, port).report()
            assert [(zone.state, zone.start, zone.write_pointer) for zone in own] == [
                (info.state.name, info.start, info.write_pointer) for info in report
            ]
    in_use = [zone for zone in trained.content.zones if zone.state != ZoneState.EMPTY.name]
    assert {zone.state for zone in in_use} >= {"CLOSED"}
    assert all(zone.written_blocks and zone.age_seconds == 500 and zone.erases for zone in in_use)
    assert len({zone.physical for zone in in_use}) == len(in_use)


def test_physical_zones_and_wear_are_those_of_the_file(trained, trained_image):
    _, view = view_image(trained_image)
    g = view.geometry
    erases = np.array([view.block(number).erases for number in range(view.layout.block_count)])
    view.close()
    by_zone = erases.reshape(-1, g.blocks).T
    assert [zone.erases for zone in trained.content.physical_zones] == [Wear.of(own) for own in by_zone]
    assert trained.health.erases == Wear.of(erases)
    assert trained.health.erases.max > trained.health.erases.min
    mapped = {zone.number for zone in trained.content.physical_zones if zone.use is Use.MAPPED}
    assert mapped == {zone.physical for zone in trained.content.zones if zone.physical is not None}
    assert trained.health.class_used["DAYS"] == 100 * erases.max() / Retention.DAYS.endurance


def test_streams_have_pins_generations_and_notes_in_words(trained):
    pinned = [stream for stream in trained.content.streams if stream.pinned]
    assert len(pinned) == 1 and pinned[0].updates == 6
    position = {"kind": "run", "iterations": 6, "committed": 6}
    assert pinned[0].note == {"kind": "checkpoint", "name": "step 6", "host": position}
    assert pinned[0].oldest_seconds == 500 and pinned[0].limit_seconds == Retention.DAYS.limit
    assert [one.name for one in trained.content.catalog.checkpoints] == ["step 6"]
    assert trained.health.expired_streams == []


def test_the_journal_has_its_newest_record(trained, worn):
    record = trained.content.journal.record
    assert record.clean and trained.content.journal.clean and record.number > 6
    entry = next(entry for entry in record.entries if entry.pinned)
    assert 0 < entry.commit < record.number and entry.updates == 6
    assert [one.stream for one in trained.content.journal.recovered] == [
        entry.stream for entry in record.entries
    ]
    assert not worn.content.journal.clean


def test_bad_blocks_and_spares(worn):
    bad = {(one.channel, one.die, one.plane, one.block): one for one in worn.health.bad_blocks}
    assert bad.keys() == {MARKED, BROKEN}
    assert bad[MARKED].flags == ["MARKED"] and bad[MARKED].replacement in preset("tiny_ecc").geometry.spares
    assert bad[BROKEN].flags == ["BROKEN"]
    assert worn.health.spares == 8 and 1 <= worn.health.spares_in_use <= 2
    assert worn.health.least_spares_left == 1
    of_planes = {(one.channel, one.die, one.plane): one.bad_blocks for one in worn.health.planes}
    assert of_planes[MARKED[:3]] == of_planes[BROKEN[:3]] == 1 and sum(of_planes.values()) == 2


def test_a_scrub_finds_planted_bits(worn_image, spoilt_image):
    with inspected(worn_image) as image:
        clean = scrub(image, lambda text: None)
    assert clean.all.read > 20 and clean.all.changed == clean.all.uncorrectable == 0
    assert sum(row.pages.read for row in clean.zones) == clean.all.read
    with inspected(spoilt_image) as image:
        found = scrub(image, lambda text: None)
    assert (found.all.changed, found.all.corrected_bits, found.all.uncorrectable) == (2, 1, 1)
    row = next(row for row in found.zones if row.pages.changed)
    assert (row.stream, row.zone, row.pages.most_corrected) == ("inputs", 0, 1)


def test_without_a_code_each_wrong_bit_is_uncorrectable(trained, trained_image, copy_of):
    path = copy_of(trained_image)
    _, view = view_image(path)
    at = view.layout.cells(
        next(zone for zone in trained.content.zones if zone.stream == "inputs").physical, 0
    )
    view.close()
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 4]))
    with inspected(path) as image:
        found = scrub(image, lambda text: None)
    assert (found.all.changed, found.all.corrected_pages, found.all.uncorrectable) == (1, 0, 1)


def test_a_scrub_through_a_link_reads_each_written_block(trained, trained_image):
    before = trained_image.read_bytes()
    with inspected(trained_image) as image:
        found = link_scrub(image, "functional", FunctionalLink, 1 << 20, lambda text: None)
    readable = {s.name for s in UPDATE_NODE.streams if any(Access.READ in s.access(port) for port in Port)}
    written = {(z.stream, z.zone): z.written_blocks for z in trained.content.zones if z.written_blocks}
    assert {(row.stream, row.zone): row.pages.read for row in found.zones} == {
        where: blocks for where, blocks in written.items() if where[0] in readable
    }
    assert found.all.uncorrectable == 0 and trained_image.read_bytes() == before


def test_the_catalogue_lists_arrays(tmp_path):
    path = tmp_path / "store.img"
    with open_device("tiny", node=STORE_NODE, image=path) as device:
        device.catalog.update({"run/w": np.ones((3, 5), np.float32), "run/empty": np.zeros(0, np.int8)})
    with inspected(path) as image:
        found = inspect(image)
    arrays = {one.name: one for one in found.content.catalog.arrays}
    assert (arrays["run/w"].dtype, arrays["run/w"].shape, arrays["run/w"].bytes) == ("float32", [3, 5], 60)
    assert arrays["run/empty"].extents == [] and len(arrays["run/w"].extents) == 1
    note = next(one.note for one in found.content.streams if one.name == "catalog")
    assert note is not None and note["kind"] == "catalogue"


def test_data_past_their_class_are_reported(tmp_path):
    path = tmp_path / "old.img"
    with open_device("tiny", image=path) as device:
        device.stream("inputs", Port.HOST).append(np.ones(100))
        assert isinstance(device.link, FunctionalLink)
        device.link.pass_time(Retention.YEARS.limit + 1)
    with inspected(path) as image:
        assert inspect(image).health.expired_streams == ["inputs"]


def test_an_image_that_no_device_has_used_needs_a_table_of_streams(tmp_path):
    path = tmp_path / "new.img"
    open_image(path, preset("tiny")).close()
    with pytest.raises(InspectionError, match="expected a table of streams"), inspected(path):
        pass
    with inspected(path, UPDATE_NODE) as image:
        assert {zone.state for zone in inspect(image).content.zones} == {"EMPTY"}


def test_the_report_is_a_document(trained):
    document = json.loads(json.dumps(trained.document()))
    assert document["zones"][0]["stream"] == "inputs"
    assert set(document) == {
        "image",
        "zones",
        "physical_zones",
        "streams",
        "health",
        "journal",
        "catalog",
        "damage",
    }
