"""Devices belong to the process that opened them: what forked, spawned and other processes get."""

import copy
import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing.reduction import ForkingPickler
from threading import Event, Thread

import numpy as np
import pytest

from flashtrain.host import Device, ForeignProcess, FunctionalLink, HostError, open_device
from flashtrain.model.link import ModelLink
from flashtrain.spec import Port
from flashtrain.spec.image import BlockFlag

LINKS = {"functional": FunctionalLink, "model": ModelLink}


def in_fork(work: Callable[[], object]) -> tuple[str, str]:
    """What `work` raises in a forked process, or returns: the name of its type, and its text."""
    answer, said = os.pipe()
    process = os.fork()
    if not process:
        signal.alarm(20)
        try:
            result: object = work()
        except BaseException as error:
            result = error
        os.write(said, pickle.dumps((type(result).__name__, str(result)[:4000])))
        os._exit(0)
    os.close(said)
    with os.fdopen(answer, "rb") as pipe:
        raw = pipe.read()
    os.waitpid(process, 0)
    assert raw, "the forked process has not ended"
    return pickle.loads(raw)


@pytest.fixture(params=LINKS)
def device(request):
    with open_device("tiny", LINKS[request.param], node="store") as opened:
        yield opened


ACCESSES: dict[str, Callable[[Device], object]] = {
    "append": lambda device: device.stream("catalog", Port.HOST).append(np.ones(4)),
    "report": lambda device: device.stream("catalog", Port.HOST).report(),
    "note": lambda device: device.stream("catalog", Port.HOST).note,
    "flush": lambda device: device.stream("catalog", Port.HOST).flush(),
    "names": lambda device: list(device.catalog),
    "array": lambda device: device.catalog["kept"],
    "store": lambda device: device.catalog.__setitem__("new", np.ones(4)),
    "buffer": lambda device: device.buffer(4, "u1"),
    "wait": lambda device: device.wait(),
    "info": lambda device: device.info(),
    "counters": lambda device: device.counters(),
    "raw": lambda device: device.submit_raw(Port.HOST, bytes(64)),
    "shutdown": lambda device: device.shutdown(),
    "disable": lambda device: device.disable(),
    "format": lambda device: device.format(),
    "refresh": lambda device: device.refresh(),
    "register": lambda device: device.link.read_register(0),
    "write of a register": lambda device: device.link.write_register(0x10, 0),
    "wait of the link": lambda device: device.link.wait(),
    "power": lambda device: device.link.power_cycle(),
    "time": lambda device: getattr(device.link, "pass_time")(5),  # noqa: B009 (no member of `Link`)
}


def test_a_forked_process_is_refused(device):
    """Each access by its name; the catalogue is in memory, so only the check stops a read of old names."""
    device.catalog["kept"] = np.arange(1000)
    found = {name: in_fork(partial(access, device))[0] for name, access in ACCESSES.items()}
    assert found == dict.fromkeys(ACCESSES, "ForeignProcess")
    assert np.array_equal(device.catalog["kept"], np.arange(1000))


def test_an_operation_in_flight(device):
    pending = device.stream("catalog", Port.HOST).append_async(np.ones(4))
    assert in_fork(pending.result)[0] == in_fork(lambda: pending.done)[0] == "ForeignProcess"
    assert pending.result().shape == (4,)


def test_the_message(device):
    assert in_fork(device.info) == (
        "ForeignProcess",
        "the device belongs to the process that opened it; expected its use in that process alone: a process"
        " of its own opens its own, and DataLoader(num_workers=0) has none",
    )


def test_a_forked_process_does_not_wait_for_a_thread_of_the_other(device):
    """A thread uses the device at the fork: nobody in the forked process ever returns its lock."""
    held, over = Event(), Event()

    def use() -> None:
        held.set()
        over.wait(20)

    thread = Thread(target=lambda: device.wait_until(lambda: use() is None))
    thread.start()
    held.wait(20)
    assert in_fork(device.info)[0] == "ForeignProcess"
    over.set()
    thread.join()


@pytest.mark.parametrize("pickler", [pickle.dumps, ForkingPickler.dumps, copy.deepcopy])
def test_no_device_is_sent_to_another_process(device, pickler):
    """A spawned process, or one of a fork server, gets pickled arguments."""
    stream = device.stream("catalog", Port.HOST)
    for one in (device, device.link, stream, device.catalog, device.port(Port.HOST)):
        with pytest.raises(ForeignProcess, match="belongs to the process that opened it"):
            pickler(one)
    assert pickler(stream.append(np.ones(4)))  # a handle is a value


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method):
    with open_device("tiny", node="store") as device:
        device.catalog["kept"] = np.arange(4)
        process = multiprocessing.get_context(method).Process(target=_overwrite, args=(device,))
        if method == "fork":
            process.start()
            process.join(60)
            assert process.exitcode == 3
        else:
            with pytest.raises(ForeignProcess):
                process.start()
        assert np.array_equal(device.catalog["kept"], np.arange(4))


def _overwrite(device: Device) -> None:
    try:
        device.catalog["kept"] = np.zeros(4)
    except ForeignProcess:
        sys.exit(3)


# The image.


@pytest.mark.parametrize("link", LINKS)
def test_the_end_of_a_forked_process_leaves_device_and_image(link, tmp_path):
    """It leaves the `with` block by an exception, so it closes what it has inherited."""
    with open_device("tiny", LINKS[link], image=tmp_path / "flash.img") as device:
        device.catalog["kept"] = np.arange(1000)
        before = (tmp_path / "flash.img").read_bytes()

        def leave() -> None:
            with device:
                raise ForeignProcess("on the way out")

        assert in_fork(leave) == ("ForeignProcess", "on the way out")
        assert in_fork(lambda: (device.close(), device.link.close())) == ("tuple", "(None, None)")
        image = device.link.image
        assert image is not None
        for touch in (
            lambda: image.keep_time(1e6),
            lambda: image.set_flag(0, BlockFlag.BROKEN),
            lambda: list(image.flagged_blocks()),
        ):
            assert in_fork(touch)[0] == "ForeignProcess"
        assert (tmp_path / "flash.img").read_bytes() == before
        device.catalog["more"] = np.arange(10)
        device.shutdown()
    with open_device(image=tmp_path / "flash.img") as device:
        assert sorted(device.catalog) == ["kept", "more"]


def test_the_lock_of_an_image_ends_with_the_process_that_opened_it(tmp_path):
    """A process that lives on, and was forked from the one of the device, does not keep it."""
    answer, said = os.pipe()
    opener = os.fork()
    if not opener:
        device = open_device("tiny", image=tmp_path / "flash.img")
        sleeper = os.fork()
        if not sleeper:
            signal.pause()
        assert device.link.own
        os.write(said, str(sleeper).encode())
        os._exit(0)
    os.waitpid(opener, 0)
    sleeper = int(os.read(answer, 20))
    os.close(answer)
    os.close(said)
    try:
        with open_device(image=tmp_path / "flash.img", node="store") as device:
            assert not device.catalog
    finally:
        os.kill(sleeper, signal.SIGKILL)


def test_a_simulated_device_is_adopted(device, tmp_path):
    """A campaign of power failures cuts the power in a copy of the device."""
    device.catalog["kept"] = np.arange(1000)

    def cut() -> object:
        device.link.adopt()
        device.link.power_cycle()
        device.recover()
        device.catalog["more"] = device.catalog["kept"] + 1
        return sorted(device.catalog)

    assert in_fork(cut) == ("list", "['kept', 'more']")
    assert list(device.catalog) == ["kept"]
    with open_device("tiny", image=tmp_path / "flash.img") as kept:
        name, text = in_fork(kept.link.adopt)
    assert name == HostError.__name__ and "expected one without" in text
