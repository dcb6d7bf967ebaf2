"""Programs that fail, zones out of service, refresh, damage, and other users of the stream."""

import numpy as np
import pytest

from flashtrain.host import CatalogDamaged, CatalogFull, CommandError, FunctionalLink, open_device
from flashtrain.host.functional.zones import StreamZones
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.spec import Port, Status, ZoneState, preset
from flashtrain.spec.streams import CATALOG, STORE_NODE, Retention

ARRAY = np.arange(300)


@pytest.fixture
def failing(device, monkeypatch):
    """Zones of the catalogue whose next append fails."""
    original, bad = StreamZones.append, set()
    first = device._zones[STORE_NODE.named(CATALOG).nsid].start

    def append(self, index, offset, blocks):
        status = original(self, index, offset, blocks)
        if status or self._settings.first != first or index not in bad:
            return status
        bad.discard(index)
        self.zones[index].state = ZoneState.READ_ONLY
        return Status.WRITE_FAULT

    monkeypatch.setattr(StreamZones, "append", append)
    return bad


def states(device):
    return [zone.state for zone in device.stream(CATALOG, Port.HOST).report()]


def test_an_append_whose_program_fails_goes_elsewhere(device, catalog, failing, again):
    catalog["before"] = ARRAY
    failing |= {0, 1}
    catalog["after"] = ARRAY + 1
    assert states(device)[:2] == [ZoneState.READ_ONLY] * 2
    for found in (catalog, again().catalog):
        assert list(found) == ["after", "before"]
    assert np.array_equal(found["before"], ARRAY) and np.array_equal(found["after"], ARRAY + 1)
    for number in range(60):  # the other zones suffice
        found["after"] = ARRAY + number
    assert np.array_equal(found["before"], ARRAY) and np.array_equal(found["after"], ARRAY + 59)


def test_all_zones_fail(catalog, failing):
    catalog["before"] = ARRAY
    failing |= set(range(5))
    with pytest.raises(CatalogFull):
        catalog["after"] = ARRAY
    assert list(catalog) == ["before"] and np.array_equal(catalog["before"], ARRAY)


def test_a_zone_that_is_offline(device, catalog):
    catalog["lost"] = ARRAY
    catalog.update({str(number): np.arange(4 * 128, dtype=np.int32) for number in range(8)})
    catalog["kept"] = ARRAY
    device.stream(CATALOG, Port.HOST).retire_zone(0, ZoneState.OFFLINE)
    with pytest.raises(CommandError, match="ZONE_IS_OFFLINE"):
        _ = catalog["lost"]
    assert np.array_equal(catalog["kept"], ARRAY)
    for number in range(40):
        catalog["lost"] = ARRAY + number
    assert np.array_equal(catalog["lost"], ARRAY + 39) and np.array_equal(catalog["kept"], ARRAY)


def test_a_page_that_cannot_be_read_stays_where_it_is(catalog, monkeypatch):
    """Its zone is not emptied."""
    stream = catalog._stream
    original = type(stream).read_async
    catalog["bad"] = ARRAY
    (place,) = catalog.info("bad").extents

    def read_async(self, stored, out=None):
        pending = original(self, stored, out)
        if any(extent.lba <= place.lba < sum(extent) for extent in stored.extents):
            command = pending._requests[0].command

            class Failed:
                def result(self):
                    raise MediaError(Status.UNRECOVERED_READ_ERROR, command, stream.port, stream.name)

            return Failed()
        return pending

    monkeypatch.setattr(type(stream), "read_async", read_async)
    with pytest.raises(CatalogDamaged, match="array 'bad': a page of it is lost"):
        _ = catalog["bad"]
    random = np.random.default_rng(1)
    for number in range(120):
        catalog[str(random.integers(6))] = ARRAY + number
    assert catalog.info("bad").extents == (place,)
    monkeypatch.undo()
    assert np.array_equal(catalog["bad"], ARRAY)


def test_refresh():
    """Arrays stay where they are, also those of views."""
    with FunctionalLink(preset("tiny")) as link, open_device(link=link, node=STORE_NODE) as device:
        catalog = device.catalog
        for number in range(12):
            catalog[str(number % 3)] = ARRAY + number
        view, places = catalog.view("2"), {name: catalog.info(name).extents for name in catalog}
        link.pass_time(Retention.YEARS.limit * 0.6)
        report = device.refresh()
        assert any(zone.stream == CATALOG for zone in report.zones) and not report.left
        assert {name: catalog.info(name).extents for name in catalog} == places
        assert view[299] == 299 + 11
        for number in range(60):
            catalog["1"] = ARRAY + number
        assert np.array_equal(catalog["0"], ARRAY + 9) and np.array_equal(catalog["1"], ARRAY + 59)


def test_damage(catalog, link, again):
    catalog["x"] = ARRAY
    link.power_cycle()
    for zone in link._flash.zones:
        for offset, page in enumerate(zone):
            if page is not None and page.data[:8] == ARRAY[64:65].tobytes():  # the second page of the array
                zone[offset] = page._replace(data=bytes([1]) + page.data[1:])
    found = again().catalog
    with pytest.raises(CatalogDamaged, match="array 'x': its checksum is wrong"):
        _ = found["x"]
    assert found.view("x")[0] == 0


def test_a_reset_and_a_format_by_others(device, catalog):
    for change in (device.stream(CATALOG, Port.HOST).reset, device.format):
        catalog["x"] = ARRAY
        change()
        assert not len(catalog)
        catalog["y"] = ARRAY
        assert list(catalog) == ["y"] and np.array_equal(catalog["y"], ARRAY)
        change()


def test_an_orderly_end(device, catalog, link):
    """The last zone takes more afterwards."""
    catalog["x"] = ARRAY
    device.shutdown()
    with open_device(link=link, node=STORE_NODE, recover=True) as other:
        other.catalog["y"] = ARRAY
        # The index lies behind the array, on its last page, and its parity on the next one.
        assert other.catalog.info("y").extents[0].lba == sum(other.catalog.info("x").extents[0]) + 1
