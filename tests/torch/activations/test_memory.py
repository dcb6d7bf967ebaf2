"""The limit of live bytes, and what is in memory when the backward pass needs it."""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from flashtrain.host import open_device
from flashtrain.model import ModelLink
from flashtrain.torch import OffloadActivations, save_on_flash
from flashtrain.torch.activations.memory import ActivationMemory
from flashtrain.torch.activations.store import ActivationStore

from .networks import mlp, same, trained, vectors_step
from .saving import Saved


class Allocations(TorchDispatchMode):
    """The most bytes that were alive at a time, of all storages that operators gave: an independent count."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._known: set[int] = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                self._add(tensor.untyped_storage())
        return out

    def _add(self, storage: torch.UntypedStorage) -> None:
        key, nbytes = id(storage), storage.nbytes()
        if key not in self._known:
            self._known.add(key)
            self.now += nbytes
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self._end, key, nbytes)

    def _end(self, key: int, nbytes: int) -> None:
        self._known.discard(key)
        self.now -= nbytes


def test_four_times_the_memory(device):
    """The activations are more than four times the memory, and the counter never exceeds it."""
    network, step, memory = mlp(layers=12), vectors_step(), 768 << 10
    activations = OffloadActivations(device, memory_bytes=memory)
    ours = trained(network, step, lambda: activations, iterations=3)
    assert same(ours, trained(network, step, iterations=3))
    report = activations.report()
    assert report.total.saved_bytes / 3 >= 4 * memory
    assert report.limit_bytes == memory and report.peak_bytes <= memory
    assert report.peak_bytes > memory / 2  # it uses what it was given


def test_other_memory_shrinks_as_the_counter_says(device):
    """All that operators have allocated until the end of the forward pass is less by what left memory."""
    network, step = mlp(layers=12), vectors_step()
    peaks = []
    for memory in (1 << 30, 768 << 10):
        activations, allocations = OffloadActivations(device, memory_bytes=memory), Allocations()
        with allocations, activations:
            loss = step(network)
        peaks.append((allocations.peak, activations.report().peak_bytes))
        del loss
    (all_before, counted_before), (all_after, counted_after) = peaks
    assert counted_before - counted_after > 2 << 20
    assert all_before - all_after > 0.9 * (counted_before - counted_after)


@contextmanager
def timed(memory_bytes: int = 16 << 20) -> Iterator:
    """A device whose appends and reads take time, and end only while somebody waits."""
    with open_device("small", ModelLink, memory_bytes=memory_bytes) as device:
        yield device


def test_needed_before_its_write_has_ended():
    network, step = mlp(layers=2), vectors_step()
    with timed() as device:
        activations = OffloadActivations(device, memory_bytes=1 << 30)
        ours = trained(network, step, lambda: activations, iterations=1)
        report = activations.report()
    assert same(ours, trained(network, step, iterations=1))
    assert report.total.read_bytes == 0 and report.total.memory_bytes >= report.total.offloaded_bytes
    assert report.total.written_bytes == 0 and report.ratio is None  # not one write has ended


def test_waits_are_reported():
    network, step = mlp(), vectors_step()
    with timed() as device:
        with save_on_flash(device) as activations:
            loss = step(network)
        after_forward = activations.report()
        before = device.cycles
        loss.backward()
        hz = device.config.timing.clock_hz
        report = activations.report()
        assert report.read_wait_seconds <= (device.cycles - before) / hz
    assert after_forward.write_wait_seconds > 0 == after_forward.read_wait_seconds
    assert report.read_wait_seconds > 0
    # A read of a quarter of a megabyte at 4.8 GB/s at most.
    assert report.read_wait_seconds > report.total.read_bytes / 4.8e9


def test_reads_ahead_shorten_the_waits():
    """Reads that were begun ahead go on while others are waited for."""
    network, step = mlp(), vectors_step(batch=32)
    waits = []
    for memory in (64 << 10, 256 << 10):
        with timed() as device:
            activations = OffloadActivations(device, memory_bytes=memory)
            trained(network, step, lambda activations=activations: activations, iterations=1)
            report = activations.report()
        assert report.total.read_bytes > report.total.saved_bytes / 3
        waits.append(report.read_wait_seconds / report.total.read_bytes)
    assert waits[1] < 0.8 * waits[0]


@pytest.fixture
def events(monkeypatch) -> list[str]:
    """Reads, and needs of what is not in memory, by the numbers of the storages."""
    events: list[str] = []
    read, fetch = ActivationStore.read, ActivationMemory.fetch

    def number(label: str) -> str:
        return label.split(",")[0].removeprefix("saved/")

    def logged_read(self, copy, out):
        events.append(f"read {number(copy.label)}")
        return read(self, copy, out)

    def logged_fetch(self, saved):
        events.append(f"need {number(saved.label)}")
        return fetch(self, saved)

    monkeypatch.setattr(ActivationStore, "read", logged_read)
    monkeypatch.setattr(ActivationMemory, "fetch", logged_fetch)
    return events


def tens(device) -> tuple[OffloadActivations, list[Saved]]:
    """Ten storages of 100,000 bytes, of which three are in memory."""
    with OffloadActivations(device, memory_bytes=400_000) as activations:
        saved = [Saved(torch.full((25_000,), number, dtype=torch.int32)) for number in range(10)]
    return activations, saved


def test_reads_go_backwards(device, events):
    _, saved = tens(device)
    while saved:
        saved.pop().restore()
    assert events == [
        "need 9", "read 6", "need 8", "read 5", "need 7", "read 4", "need 6", "read 3", "need 5", "read 2",
        "need 4", "read 1", "need 3", "read 0", "need 2", "need 1", "need 0",
    ]  # fmt: skip


def test_reads_ahead_of_a_second_graph(device, events):
    """The graph that was saved first is used first, with no room ahead; the other one is read ahead later."""
    _, saved = tens(device)
    for number in (4, 3, 2, 1, 0, 9, 8, 7, 6, 5):
        saved[number].restore()
    read = [number for number in range(10) if f"read {number}" in events]
    assert read == [0, 1, 2, 3, 4, 5, 6]
    assert [n for n in read if events.index(f"need {n}") < events.index(f"read {n}")] == [0, 1, 2, 3, 4]


def test_what_left_once_more_is_read_ahead_once_more(device, events):
    """Storages that are saved in the backward pass take the room of those read ahead."""
    activations, saved = tens(device)
    saved.pop().restore()
    with activations:
        Saved(torch.zeros(25_000))
    for number in (8, 7, 6):
        saved[number].restore()
    assert events[:4] == ["need 9", "read 6", "need 8", "read 6"]
    assert events.index("need 6") > 4


def test_first_saved_leaves_first(device):
    activations, saved = tens(device)
    assert activations.report().live_bytes == 300_000  # room for one more is left
    for number in (9, 8, 7):
        assert (saved[number].restore()[0] == number).all()
    assert activations.report().total.memory_bytes == 300_000
    for number in range(7):
        assert (saved[number].restore()[0] == number).all()
    assert activations.report().total.read_bytes == 700_000


@pytest.mark.parametrize("memory_bytes", [0, 300_000, None])
def test_nothing_stays_when_all_graphs_have_ended(device, memory_bytes):
    step = vectors_step()
    activations = OffloadActivations(device, memory_bytes=memory_bytes)
    with activations:
        saved = [Saved(torch.randn(30_000)) for _ in range(5)]
    del saved[::2]
    for one in saved:
        one.restore()
    del saved, one
    trained(mlp(layers=2), step, lambda: activations)
    del step
    assert activations.report().live_bytes == 0
