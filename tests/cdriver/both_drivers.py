"""The flash behind both drivers: what they recover from copies of it, and a model of what it holds."""

from copy import deepcopy

import numpy as np

from flashtrain.host import Device, open_device
from flashtrain.spec import Port, ZoneAction, preset
from flashtrain.spec.streams import UPDATE_NODE

from .driver import CDriver, DriverError, Error

_GEOMETRY = preset("tiny").geometry
BLOCK, ZONE_SIZE = _GEOMETRY.page_bytes, _GEOMETRY.zone_size
"""Of `tiny`, and of `tiny_ecc`."""
PLACES = ((Port.HOST, Port.CORE, 1, "inputs"), (Port.CORE, Port.CORE, 3, "trained"),
          (Port.CORE, Port.CORE, 2, "activations"))  # fmt: skip
"""Port that appends, port that reads, NSID, name."""


def flash_of(link):
    """The content of all blocks; trailing places without a page do not count."""
    content = []
    for zone in link._flash.zones:
        pages = list(zone)
        while pages and pages[-1] is None:
            pages.pop()
        content.append(pages)
    return content


def tables_of(link):
    """The controller's tables: spares in the places of blocks, spares in use, free zones, erase counts."""
    physical = link._executor.physical
    return physical._replaced, physical._in_use, physical._free, physical.wear, physical.sequence


def shape(zones):
    """Zones as both drivers report them."""
    return [(zone.state, zone.start, zone.room, zone.written, zone.unsure) for zone in zones]


def copy_of(link):
    """Another Link in the same state, with views of its own memory; a Link as a whole refuses copies."""
    memory, twin = link.memory.copy(), object.__new__(type(link))
    views = [queues._memory for queues in link._queues.values()]
    known = {id(link): twin, id(link.memory): memory} | {id(view): memory.data for view in views}
    vars(twin).update(deepcopy(vars(link), known))
    return twin


def recover_twice(link, node=UPDATE_NODE):
    """Recover the link with the C driver, and a copy of it with the Python driver; compare all of it."""
    twin = copy_of(link)
    driver, device = CDriver(link, node), open_device(link=twin, node=node, recover=True)
    report, expected = driver.recover(), device.recovered
    assert (report.clean, report.records, report.erased) == (
        expected.clean,
        expected.records,
        expected.erased,
    )
    assert (report.retired, report.spares) == (expected.retired, expected.spares)
    assert driver.bad_blocks() == list(expected.bad)
    assert report.refreshing == (device._journal is not None and device._journal.copy is not None)
    for stream in node.streams:
        if stream is not node.journal and stream.persistency:
            assert report.blocks[stream.nsid - 1] == expected.stream(stream.name).blocks, stream.name
    assert flash_of(link) == flash_of(twin)
    assert tables_of(link) == tables_of(twin)
    assert [driver.get("ft_zone_wear", zone) for zone in range(driver.info.zones)] == device.zone_wear()
    for appends, _, nsid, name in PLACES:
        assert shape(driver.report(appends, nsid)) == shape(device.stream(name, appends).report()), name
    return driver, device


def format_twice(link, node=UPDATE_NODE):
    """Format the link with the C driver, and a copy of it with the Python driver; compare all of it."""
    twin = copy_of(link)
    driver, device = CDriver(link, node), open_device(link=twin, node=node)
    driver.do("ft_format", False)
    assert driver.bad_blocks() == list(device.bad_blocks)
    assert (flash_of(link), tables_of(link)) == (flash_of(twin), tables_of(twin))
    return driver, device


class Model:
    """The content of the streams: blocks by zone."""

    def __init__(self):
        self.blocks = {nsid: {} for *_, nsid, _ in PLACES}

    def append(self, nsid, lba, data):
        of = self.blocks[nsid]
        of.update({lba + number: block for number, block in enumerate(data.reshape(-1, BLOCK))})

    def reset(self, nsid, zone=None):
        if zone is None:
            self.blocks[nsid].clear()
        for lba in [lba for lba in self.blocks[nsid] if lba // ZONE_SIZE == zone]:
            del self.blocks[nsid][lba]

    def compare(self, driver: CDriver, device: Device | None = None):
        """All blocks, as the C driver reads them, and as the Python driver does on its own device."""
        for _, reads, nsid, name in PLACES:
            for lba, block in self.blocks[nsid].items():
                assert np.array_equal(driver.read(reads, nsid, lba, 1), block), (nsid, lba)
                if device is not None:
                    assert np.array_equal(device.stream(name, reads).read_blocks(lba, 1), block), (nsid, lba)


def random_action(random, driver: CDriver, model: Model):
    """One command of the C driver, and the same in the model; what the device refuses changes nothing."""
    appends, _, nsid, _ = PLACES[random.integers(len(PLACES))]
    zone = int(random.integers(driver.get("ft_zones", nsid)))
    kind = random.choice(["append"] * 6 + ["reset", "reset zone", "finish", "open", "annotate", "flush"])
    try:
        if kind == "append":
            data = random.integers(0, 256, int(random.integers(1, 9)) * BLOCK, np.uint8)
            model.append(nsid, driver.append(appends, nsid, zone, data), data)
        elif kind == "reset":
            driver.do("ft_stream_reset", appends, nsid)
            model.reset(nsid)
        elif kind == "reset zone":
            driver.do("ft_zone_reset", appends, nsid, zone)
            model.reset(nsid, zone)
        elif kind == "finish":
            driver.do("ft_zone_manage", appends, nsid, zone, ZoneAction.FINISH)
        elif kind == "open":
            driver.do("ft_zone_manage", appends, nsid, zone, ZoneAction.OPEN)
        elif kind == "annotate" and nsid != 2:
            note = random.bytes(int(random.integers(0, 100)))
            driver.do("ft_annotate", nsid, note, len(note))
            assert driver.entry(nsid)[1] == note
        else:
            driver.do("ft_flush", appends, nsid)
    except DriverError as error:
        assert error.error in (Error.STATUS, Error.SPARES), error
