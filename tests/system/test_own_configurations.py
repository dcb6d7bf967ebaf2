"""Configurations from files through every Link: appends, reads, losses of power, and training on the dies."""

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import load_config
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.workload import Workload
from flashtrain.training.data import digits
from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.reference import train_reference
from flashtrain.training.report import first_difference
from flashtrain.training.tensors import DeviceStorage

MEMORY_BYTES = 8 << 20

FILES = {
    # The least of everything: one plane, whose zone of five pages is no power of two.
    "one_plane": """
        base = "tiny"
        write_sets = 2
        read_queue = 2
        commands = 4
        max_blocks = 5
        [geometry]
        channels = 1
        planes = 1
        blocks = 36
        pages = 5
        [timing]
        tr = 20_000
        tadv = 20_000
        tprog = 30_000
    """,
    # Commands beside the data, and a line R/B# of each die. The front end is that of `tiny`.
    "sca_wired": """
        base = "tiny"
        chips.sca = true
        chips.ready_busy = true
    """,
    # A part with pages of 16 KiB, with fewer planes, blocks and pages, and shorter times.
    "tlc": """
        base = "tiny"
        part = "b17a_tlc"
        max_blocks = 12
        code_strength = 8
        read_levels = 1
        randomizer = true
        [geometry]
        channels = 1
        planes = 2
        blocks = 20
        spare_blocks = 2
        pages = 6
        [timing]
        clock_mhz = 600
        tr = 20_000
        tprog = 30_000
        tbers = 10_000
        tcbsy = 500
        trst = 1_000
        tsusp = 200
        tres = 200
    """,
    # Two LUNs behind each of two chip enables, with a line R/B# for both.
    "luns": """
        base = "tiny"
        [geometry]
        channels = 1
        dies = 4
        planes = 2
        blocks = 20
        pages = 6
        [chips]
        luns = 2
        suspended_read = false
        update = false
        ready_busy = true
        [timing]
        tr = 20_000
        tprog = 30_000
        tbers = 10_000
    """,
}

LINKS = {"functional": FunctionalLink, "rtl": RtlLink}


@pytest.fixture(params=FILES)
def config(request, tmp_path):
    file = tmp_path / f"{request.param}.toml"
    file.write_text(FILES[request.param], encoding="utf-8")
    return load_config(file)


@pytest.mark.usual("one_plane-functional", "tlc-functional", "sca_wired-rtl")
@pytest.mark.early
@pytest.mark.parametrize("link", LINKS)
def test_a_configuration_from_a_file(config, link, seed):
    with open_device(config, LINKS[link], memory_bytes=MEMORY_BYTES) as device:
        stream, random = device.stream("activations"), np.random.default_rng(seed)
        zone_bytes = config.geometry.zone_capacity * config.geometry.page_bytes
        # Over the end of a zone, a part of a page, and one page.
        sizes = (zone_bytes + 5, config.geometry.page_bytes // 2, config.geometry.page_bytes)
        for _ in range(2):
            arrays = [random.integers(0, 256, size, np.uint8) for size in sizes]
            stored = [stream.append(array) for array in arrays]
            assert all(np.array_equal(stream.read(s), a) for s, a in zip(stored, arrays, strict=True))
            stream.flush()
            assert all(np.array_equal(stream.read(s), a) for s, a in zip(stored, arrays, strict=True))
            stream.reset()

    if not config.chips.update:
        return
    with open_device(config, LINKS[link], memory_bytes=MEMORY_BYTES, node=UPDATE_NODE) as device:
        run, data = Workload(seed, iterations=3), digits()
        how = (run.network, data, run.optimizer, run.batch, run.iterations, run.seed)
        log = train_through_flash(*how, DeviceStorage.on(device)).log
        assert not first_difference(log, train_reference(*how))


@pytest.mark.usual("one_plane-functional")
@pytest.mark.parametrize("link", LINKS)
def test_a_configuration_without_power(config, link, seed):
    """Appended data survive losses of power at any time of a further append."""
    random = np.random.default_rng(seed)
    with LINKS[link](config, MEMORY_BYTES) as opened, open_device(link=opened) as device:
        stream, kept, zones = device.stream("trained"), [], set()
        for turn in range(12):
            if sum(zone.room for zone in stream.report()) < 8:
                stream.reset()
                kept = []
            array = random.integers(0, 256, 5 * config.geometry.page_bytes, np.uint8)
            kept.append((stream.append(array), array))
            stream.append_async(random.integers(0, 256, 3 * config.geometry.page_bytes, np.uint8))
            opened.run(int(random.integers(1, 2 * config.timing.cycles("tprog"))))
            opened.power_cycle()
            device.recover()
            for stored, expected in kept:
                assert np.array_equal(stream.read(stored), expected), turn
            zones |= {extent.lba // config.geometry.zone_size for extent in kept[-1][0].extents}
    assert len(zones) > 1
