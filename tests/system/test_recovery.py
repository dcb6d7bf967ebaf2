"""Recovery on every Link, after the device was disabled at once or its power failed."""

from collections.abc import Callable

import numpy as np
import pytest

from flashtrain.host import Device, Link, TensorGroup, open_device
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.spec import Port, ZoneState
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.optimizers import SGD

GROUP = TensorGroup(OptimizerCode.SGD, ((700,),))
Stop = Callable[[Device], None]


def power_cycle(device: Device) -> None:
    if type(device.link).power_cycle is Link.power_cycle:
        pytest.skip(f"{type(device.link).__name__} cannot switch the power of its device")
    device.link.power_cycle()


@pytest.fixture(params=[Device.disable, power_cycle], ids=["disabled", "power failed"])
def stop(request) -> Stop:
    """Ends the device's work at once."""
    return request.param


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def noise(random, device, blocks):
    return random.integers(0, 256, blocks * device.config.geometry.page_bytes - 5, np.uint8)


def test_what_was_acknowledged_is_kept(link, stop, random):
    with open_device(link=link, node=UPDATE_NODE) as device:
        inputs, trained = device.stream("inputs", Port.HOST), device.stream("trained")
        trained.append(noise(random, device, 3))
        trained.reset()
        kept = []
        for _ in range(2):  # as many zones as a stream has at least: after a recovery each is full
            for stream, blocks in ((inputs, 5), (trained, 3)):
                array = noise(random, device, blocks)
                kept.append((stream.name, stream.append(array), array))
            device.stream("activations").append(noise(random, device, 4))
            device.stream("weights").append_async(noise(random, device, 4))
            stop(device)
            report = device.recover()
            print(report)
            assert report.stream("trained").generation == 1
            for name, stored, array in kept:
                assert np.array_equal(device.stream(name).read(stored), array), name
            for name in ("activations", "weights"):
                assert all(zone.state is ZoneState.EMPTY for zone in device.stream(name).report())
        inputs.reset_zone(0)
        array = noise(random, device, 2)
        kept[0] = ("inputs", inputs.append(array), array)
        stop(device)
        device.recover()
        assert kept[0][1].lba == 0
        for name, stored, array in kept:
            assert np.array_equal(device.stream(name).read(stored), array), name


def test_retired_zones_stay_retired(link, stop, random):
    with open_device(link=link, node=UPDATE_NODE) as device:
        trained, weights = device.stream("trained"), device.stream("weights")
        array = noise(random, device, 3)
        stored = trained.append(array)
        trained.retire_zone(0, ZoneState.READ_ONLY)
        weights.retire_zone(1, ZoneState.OFFLINE)
        for _ in range(2):
            stop(device)
            assert device.recover().retired == 2
            assert trained.report()[0].state is ZoneState.READ_ONLY
            assert np.array_equal(trained.read(stored), array)
            assert [zone.state for zone in weights.report()[:2]] == [ZoneState.EMPTY, ZoneState.OFFLINE]
        assert trained.append(noise(random, device, 1)).lba >= trained.zone_size


def test_what_was_under_way_is_whole_or_not_there(link, stop, random):
    with open_device(link=link, node=UPDATE_NODE) as device:
        trained = device.stream("trained")
        before = trained.append(first := noise(random, device, 2))
        arrays = [noise(random, device, 3) for _ in range(4)]
        for array in arrays:
            trained.append_async(array)
        link.run(int(1.5 * link.config.timing.cycles("tprog")))
        stop(device)
        device.recover()
        assert np.array_equal(device.stream("trained").read(before), first)
        size = link.config.geometry.page_bytes
        padding = np.zeros(5, np.uint8)
        appended = np.concatenate([part for array in (first, *arrays) for part in (array, padding)])
        there = 0
        for block in range(device.recovered.stream("trained").blocks):
            try:
                page = trained.read_blocks(block, 1)
            except MediaError:
                continue
            assert np.array_equal(page, appended[block * size : (block + 1) * size]), block
            there += 1
        print(f"{there} of {len(appended) // size} blocks are there")
        assert there >= 2


def test_generations_of_state(link, stop, random):
    with open_device(link=link, node=UPDATE_NODE) as device:
        state = device.optimizer_state([GROUP])
        w, gradient = (random.standard_normal(700).astype(np.float32) for _ in range(2))
        state.initialise([[w]])
        constants = [SGD(0.5).constants(1)]
        for updates in range(1, 4):
            state.update([[gradient]], constants)
            state.commit()
            w = state.read(Input.W)[0][0]
            state.update([[gradient]], constants)  # not committed
            stop(device)
            device.recover()
            state = device.optimizer_state([GROUP], recovered=True)
            assert state.current.updates == updates
            assert state.read(Input.W)[0][0].tobytes() == w.tobytes()


def test_an_orderly_end_leaves_zones_that_take_more(link, random):
    with open_device(link=link, node=UPDATE_NODE) as device:
        trained = device.stream("trained")
        arrays = [noise(random, device, blocks) for blocks in (1, 3, 2)]
        stored = []
        for array in arrays:
            stored.append(trained.append(array))
            device.stream("activations").append_async(array)
            device.shutdown()
            report = device.recover()
            assert report.clean
            print(report)
        assert [one.lba for one in stored] == [0, 1, 4]
        for one, array in zip(stored, arrays, strict=True):
            assert np.array_equal(trained.read(one), array)
