"""The driver: what it refuses, what it says, and how it copes with a small tensor buffer or an odd device."""

import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import sleep

import numpy as np
import pytest

from flashtrain import host
from flashtrain.host import (
    ArgumentError,
    ArrayError,
    BufferFull,
    DeviceClosed,
    DeviceHang,
    DeviceMismatch,
    Extent,
    FunctionalLink,
    StoredArray,
    errors,
    open_device,
)
from flashtrain.host.queues import command_errors
from flashtrain.host.queues.command_errors import AccessDenied
from flashtrain.spec import ConfigError, Port, ZoneState, preset
from flashtrain.spec.registers import Register, State
from flashtrain.spec.streams import ACTIVATION_NODE, SINGLE_NODE, UPDATE_NODE, Codec

TINY = preset("tiny")


@pytest.fixture
def device():
    with open_device("tiny", memory_bytes=1 << 16) as opened:
        yield opened


@pytest.fixture
def stream(device):
    return device.stream("activations")


@pytest.mark.parametrize(
    "array, message",
    [
        ([1, 2], "list is not a NumPy array"),
        (None, "NoneType is not a NumPy array"),
        (3.5, "float is not a NumPy array"),
        (np.zeros(0), r"array of shape \(0,\) has nothing to store"),
        (np.zeros((3, 0, 2)), r"array of shape \(3, 0, 2\)"),
        (np.array([object()]), "dtype object has no fixed size"),
        (np.zeros(2, "V0"), "has no fixed size"),
    ],
)
def test_what_cannot_be_appended(stream, array, message):
    for attempt in (stream.append, stream.append_async, lambda a: stream.write(0, a)):
        with pytest.raises(ArrayError, match=message):
            attempt(array)


def test_what_cannot_be_read(device, stream):
    stored = stream.append(np.zeros((2, 3), np.float32))
    with pytest.raises(ArrayError, match="read of a int; expected the StoredArray"):
        stream.read(0)
    with pytest.raises(ArrayError, match="stored in stream 2, not in 'weights'"):
        device.stream("weights").read(stored)
    frozen = np.zeros((2, 3), np.float32)
    frozen.flags.writeable = False
    for out, message in (
        ([], "out is a list"),
        (np.zeros((3, 2), np.float32), r"out is float32\[3, 2\]; expected float32\[2, 3\]"),
        (np.zeros((2, 3), np.float64), r"out is float64\[2, 3\]"),
        (np.zeros((3, 2), np.float32).T, "not a writable C-contiguous array"),
        (frozen, "not a writable C-contiguous array"),
    ):
        with pytest.raises(ArrayError, match=message):
            stream.read(stored, out=out)
    with pytest.raises(ArgumentError, match="blocks is 0; expected an integer from 1"):
        stream.read_blocks(0, 0)
    with pytest.raises(ArgumentError, match="lba is -1; expected"):
        stream.read_blocks(-1, 1)
    with pytest.raises(ArgumentError, match="zone is -2; expected"):
        stream.reset_zone(-2)


def test_what_cannot_be_opened():
    with pytest.raises(ConfigError, match="no preset 'huge'"):
        open_device("huge")
    with pytest.raises(ConfigError, match="memory_bytes is 1000"):
        open_device("tiny", memory_bytes=1000)
    with pytest.raises(ConfigError, match=r"memory_bytes is 1024; expected at least \d+ bytes of queues"):
        open_device("tiny", memory_bytes=1024)
    with pytest.raises(ConfigError, match="queue_entries is 1"):
        open_device("tiny", queue_entries=1)
    coded = replace(SINGLE_NODE.named("activations"), codec=Codec.ROUND16)
    message = (
        r"node.streams\['activations'\].codec is 'ROUND16'; expected RAW, since configuration 'tiny' has no"
    )
    with pytest.raises(ConfigError, match=message):
        open_device("tiny", node=replace(SINGLE_NODE, streams=(coded,)))
    with pytest.raises(DeviceMismatch, match="'tiny'; expected 'small'"):
        open_device("small", link=FunctionalLink(TINY))
    with pytest.raises(ConfigError, match="no stream 'colours'; it has inputs, activations, journal"):
        open_device("tiny", node=ACTIVATION_NODE).stream("colours")


@pytest.mark.parametrize(
    "wrong, message",
    [
        (Register.ID, "ID and VERSION"),
        (Register.VERSION, "ID and VERSION"),
        (Register.GEOMETRY, "has channels = 3; 'tiny' has 2"),
        (Register.LIMITS, "has commands = 9; 'tiny' has 8"),
    ],
)
def test_a_device_that_is_another(wrong, message):
    class Other(FunctionalLink):
        def read_register(self, address):
            value = super().read_register(address)
            return value + 1 if address == wrong else value

    with pytest.raises(DeviceMismatch, match=message):
        open_device("tiny", link=Other)


def test_arrays_larger_than_the_tensor_buffer(seed):
    random = np.random.default_rng(seed)
    memory = 2 * 64 * 80 + 8 * 512
    with open_device("tiny", memory_bytes=memory) as device:
        stream = device.stream("activations")
        large = random.integers(0, 256, 40 * 512 + 3, np.uint8)
        stored = stream.append(large)
        assert np.array_equal(stream.read(stored), large)
        free = device.buffer_free_bytes
        held = device.buffer(free, np.uint8)
        with pytest.raises(BufferFull):
            stream.append(large[:5])
        with pytest.raises(BufferFull):
            stream.read(stored)
        assert held.size == free
        del held
        # The append that found no room took nothing.
        assert stream.append(large[:5]).lba == stored.extents[-1].lba + stored.extents[-1].blocks


def test_an_append_in_flight_does_not_keep_its_array(stream):
    array = np.ones(3)
    gone = weakref.ref(array)
    pending = stream.append_async(array)
    del array
    assert gone() is None and np.array_equal(stream.read(pending.result()), np.ones(3))


def test_closed(device, stream):
    pending = stream.append_async(np.ones(3))
    device.close()
    device.close()
    with pytest.raises(DeviceClosed):
        pending.result()
    for attempt in (lambda: stream.append(np.ones(3)), stream.flush, lambda: device.submit_raw(Port.CORE, 0)):
        with pytest.raises(DeviceClosed):
            attempt()


def test_links_are_closed_by_whom_they_were_opened():
    link = FunctionalLink(TINY)
    with open_device(link=link) as device:
        assert device.link is link
    assert link.read_register(Register.STATE) == 0
    with open_device(link=FunctionalLink, preset="tiny") as device:
        owned = device.link
    with pytest.raises(DeviceClosed):
        owned.read_register(Register.STATE)


def test_a_link_that_fails_to_open_a_device_is_closed():
    closed = []

    class Deaf(FunctionalLink):
        def read_register(self, address):
            return 0

        def close(self):
            closed.append(self)

    with pytest.raises(DeviceMismatch):
        open_device("tiny", link=Deaf)
    assert len(closed) == 1


class Stuck(FunctionalLink):
    """Takes doorbells and does nothing."""

    def _work(self):
        pass


def test_a_device_that_owes_answers():
    with open_device("tiny", link=Stuck) as device:
        stream = device.stream("activations")
        pending = stream.append_async(np.ones(3))
        assert not pending.done
        with pytest.raises(DeviceHang, match="idle but owes answers: ZONE_APPEND by CORE"):
            pending.result()
        for _ in range(6):
            stream.flush_async()
        with pytest.raises(DeviceHang, match="FLUSH by CORE and 3 more"):
            device.wait()


def test_a_device_with_a_fault():
    class Faulty(FunctionalLink):
        def read_register(self, address):
            return State.FATAL if address == Register.STATE else super().read_register(address)

    with pytest.raises(DeviceHang, match="fatal fault"):
        open_device("tiny", link=Faulty)


def test_a_device_that_never_gets_ready():
    class Lazy(FunctionalLink):
        waited = 0

        def run(self, cycles):
            Lazy.waited += cycles

        def read_register(self, address):
            return 0 if address == Register.STATE else super().read_register(address)

    with pytest.raises(DeviceHang, match="not ready after"):
        open_device("tiny", link=Lazy)
    assert Lazy.waited >= 10 * TINY.geometry.zones * TINY.timing.cycles("tbers")


def test_an_answer_to_nobody(device, stream):
    queues = device.link._queues[Port.CORE]
    post = queues.post
    queues.post = lambda cid, status, result: post(cid + 1, status, result)
    with pytest.raises(DeviceHang, match="port CORE answered command 1, which is not in flight"):
        stream.flush()


def test_waiting_for_several(device, stream):
    pendings = [stream.append_async(np.full(2, i)) for i in range(3)]
    bad = device.stream("inputs").append_async(np.ones(1))
    assert [stored.lba for stored in device.wait(pendings)] == [0, 1, 2]
    with pytest.raises(AccessDenied):
        device.wait([*pendings, bad])
    assert device.wait() == []
    assert all(pending.done for pending in pendings)


def test_a_failure_that_nobody_looks_at_does_not_lead_astray(device, stream):
    page = TINY.geometry.page_bytes
    stream.finish_zone(0)
    stream.append(np.zeros(page))
    # Somebody else fills the zone without the driver's knowledge.
    zones = device.link._executor._contents[2].zones
    zones.zones[1].written, zones.zones[1].state = 24, ZoneState.FULL
    stream.append_async(np.zeros(page, np.uint8))
    device.wait()
    assert stream.append(np.zeros(page, np.uint8)).lba == 2 * stream.zone_size


def test_handles():
    stored = StoredArray("tiny #1", 2, 0, (Extent(8, 2), Extent(32, 1)), (3, 5), np.dtype(np.float32))
    assert (stored.lba, stored.nbytes) == (8, 60)


def test_raw_entries_must_be_whole(device):
    for entry in (b"", bytes(63), bytes(65)):
        with pytest.raises(ArrayError, match=f"entry of {len(entry)} bytes; expected 64"):
            device.submit_raw(Port.CORE, entry)


def test_what_the_device_says(device, stream):
    stream.read(stream.append(np.zeros(1000, np.uint8)))
    info = device.info()
    assert (info.channels, info.planes, info.pages, info.page_bytes) == (2, 2, 6, 512)
    assert (info.memory_bytes, info.clock_mhz, info.max_blocks) == (1 << 16, 600, 16)
    counters = device.counters()
    assert (counters["COMMANDS"], counters["PAGES_APPENDED"], counters["PAGES_READ"]) == (2, 2, 2)
    assert (counters["APPENDS"], counters["READS"], counters["ERRORS"]) == (1, 1, 0)
    channels = device.channel_counters()
    assert len(channels) == 2 and channels[0]["PROGRAMS"] == 0
    assert device.zone_wear() == [0] * 16
    assert device.cycles == 0
    assert "tiny" in repr(device) and "activations" in repr(stream)
    assert sum(device.stream(s.name).zones for s in SINGLE_NODE.streams) == 16


def test_links_and_nodes_by_name():
    with open_device("tiny", "functional", "update") as device:
        assert isinstance(device.link, FunctionalLink) and device.node is UPDATE_NODE
    for arguments, message in (
        (("tiny", "colour"), r"no Link is called 'colour'; there are functional.*"),
        (("tiny", 3), "link is 3; expected an open Link, a Link's class or its name"),
        (("tiny", FunctionalLink, "colour"), "node is 'colour'; expected a NodeTable, or one of activation"),
        (("tiny", FunctionalLink, 3), "node is 3; expected a NodeTable, or one of"),
        ((3,), "preset is 3; expected a name, an FmsConfig or None"),
    ):
        with pytest.raises(ConfigError, match=message):
            open_device(*arguments)


def test_every_exception_is_exported():
    for module in (errors, command_errors):
        own = [
            value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__
        ]
        exceptions = [one for one in own if isinstance(one, type) and issubclass(one, Exception)]
        assert len(exceptions) > 15
        for exception in exceptions:
            assert getattr(host, exception.__name__) is exception
            assert exception.__name__ in host.__all__


def test_threads_take_turns():
    class Slow(FunctionalLink):
        """Notes whether a second thread comes in while one is inside."""

        inside = overlaps = 0

        def write_register(self, address, value):
            self.overlaps += self.inside
            self.inside += 1
            sleep(1e-4)
            super().write_register(address, value)
            self.inside -= 1

    with Slow(TINY) as link, open_device(link=link, factory=True) as device, ThreadPoolExecutor(2) as pool:

        def use(name):
            stream, data = device.stream(name), np.full(20, len(name))
            return all(np.array_equal(stream.read(stream.append(data)), data) for _ in range(20))

        assert list(pool.map(use, ("activations", "weights"), timeout=60)) == [True, True]
        assert link.overlaps == 0
