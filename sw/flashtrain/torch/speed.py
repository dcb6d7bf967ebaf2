"""The speed of this package's clients on a device: work per second of processor time, in one thread.

All of a process is measured, PyTorch's own part included. The device has what the client's page in the
documentation opens.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.utils.data import DataLoader

from flashtrain.checkpoint import AppendedCheckpoints
from flashtrain.host import Device

from .activations.offload_activations import OffloadActivations
from .checkpoint.flash_reader import FlashReader
from .checkpoint.flash_writer import FlashWriter
from .data import FlashDataset, ResumableSampler
from .optimizers import AdamW

STORAGES, STORAGE_BYTES = 16, 1 << 20
"""Activations of a step."""
MEMORY_BYTES = 2 << 20
"""Room for activations in memory, of which most are thus read from the flash."""
SAMPLES, SAMPLE_BYTES, BATCH = 512, 3 * 128 * 128, 32
"""A sample is an image of 128 x 128 pixels."""
TENSORS, TENSOR_BYTES = 8, 2 << 20
"""Of a checkpoint."""
PARAMETERS = 1 << 20
WIDTH, LAYERS, TOKENS = 128, 4, 512
"""A small transformer, and the tokens of its step."""


@dataclass(frozen=True)
class Work:
    """Bytes or parameters that were worked on, and the seconds of processor time.

    - moved: bytes of memory that a copy of the same data would move.
    - copy_seconds: processor time of that copy.
    """

    units: int
    seconds: float
    moved: int
    copy_seconds: float

    @property
    def rate(self) -> float:
        """Units per second."""
        return self.units / self.seconds


def offload(device: Device, rounds: int) -> Work:
    """Steps that save 16 activations of 1 MiB each and compute nothing; bytes written and read."""
    activations = OffloadActivations(device, memory_bytes=MEMORY_BYTES)
    elements = STORAGE_BYTES // 4
    source = torch.randn(elements)

    def step() -> None:
        x = torch.zeros(1, requires_grad=True)
        with activations:
            for _ in range(STORAGES):
                x = _Saving.apply(x, source)
        x.sum().backward()

    step()
    before = _traffic(activations)
    seconds = _spent(step, rounds)
    moved = _traffic(activations) - before
    return _work(moved, seconds, moved, STORAGE_BYTES)


class CodedSteps(NamedTuple):
    """Seconds of processor time of steps in memory and with offloading.

    - moved: bytes that the steps with offloading write and read; copy_seconds: of a memory copy of as many.
    """

    plain: float
    offloaded: float
    moved: int
    copy_seconds: float


def offload_codec(device: Device, rounds: int) -> CodedSteps:
    """Steps of a small transformer in memory, and with its activations in the stream's codec, by turns."""
    torch.manual_seed(1)
    layers = (nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, 0.0, "gelu") for _ in range(LAYERS))
    model, data = nn.Sequential(*layers), torch.randn(64, TOKENS // 64, WIDTH)
    activations = OffloadActivations(device, memory_bytes=MEMORY_BYTES)

    def step(context: Any) -> None:
        with context:
            loss = model(data).square().mean()
        loss.backward()

    def both() -> tuple[float, float]:
        return _spent(lambda: step(nullcontext()), 1), _spent(lambda: step(activations), 1)

    both()  # the first steps allocate memory
    before = _traffic(activations)
    plain, offloaded = map(sum, zip(*(both() for _ in range(rounds)), strict=True))
    moved = _traffic(activations) - before
    return CodedSteps(plain, offloaded, moved, _copy_seconds(moved, STORAGE_BYTES))


def checkpoint_load(device: Device, rounds: int) -> Work:
    """Loads of a checkpoint of 16 MiB by `torch.distributed.checkpoint`; bytes read."""
    store = AppendedCheckpoints(device)
    state = {f"tensor {number}": torch.randn(TENSOR_BYTES // 4) for number in range(TENSORS)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of PyTorch: there is one process
        save(state, storage_writer=FlashWriter(store, "speed_1"), no_dist=True)
        load(state, storage_reader=FlashReader(store, "speed_1"), no_dist=True)
        seconds = _spent(
            lambda: load(state, storage_reader=FlashReader(store, "speed_1"), no_dist=True), rounds
        )
    return _work(rounds * TENSORS * TENSOR_BYTES, seconds, rounds * TENSORS * TENSOR_BYTES, TENSOR_BYTES)


def dataset(device: Device, rounds: int, shuffle: bool) -> Work:
    """Epochs of 512 images of 49,152 bytes in batches of 32; bytes of samples."""
    images = torch.randint(0, 256, (SAMPLES, SAMPLE_BYTES), dtype=torch.uint8)
    stored = FlashDataset(images, device)
    sampler = ResumableSampler(stored, seed=1, shuffle=shuffle)

    def epoch() -> None:
        for _ in DataLoader(stored, BATCH, sampler=sampler):
            pass

    epoch()
    return _work(rounds * stored.nbytes, _spent(epoch, rounds), rounds * stored.nbytes, SAMPLE_BYTES)


def die_step(device: Device, rounds: int) -> Work:
    """Steps of AdamW on the dies with FP32 gradients, after which the weights are read; parameters."""
    parameters = [nn.Parameter(torch.randn(PARAMETERS // 4)) for _ in range(4)]
    optimizer = AdamW(parameters, lr=1e-3, device=device)
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()
    seconds = _spent(optimizer.step, rounds)
    # In: the gradients, w, m and v; out: the new ones, and w once more to the host.
    return _work(rounds * PARAMETERS, seconds, rounds * PARAMETERS * 4 * 4, PARAMETERS)


def _traffic(activations: OffloadActivations) -> int:
    total = activations.report().total
    return total.written_bytes + total.read_bytes


class _Saving(torch.autograd.Function):
    """Passes a number on, and saves a copy of `source` for the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, source: Tensor) -> Tensor:
        ctx.save_for_backward(source.clone())
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (saved,) = ctx.saved_tensors
        assert saved.nbytes == STORAGE_BYTES
        return gradients[0], None


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _spent(work: Callable[[], object], rounds: int) -> float:
    """Seconds of processor time."""
    with _one_thread():
        started = time.process_time()
        for _ in range(rounds):
            work()
        return time.process_time() - started


def _work(units: int, seconds: float, moved: int, piece: int) -> Work:
    return Work(units, seconds, moved, _copy_seconds(moved, piece))


def _copy_seconds(moved: int, piece: int) -> float:
    """Processor time of a copy of so many bytes, in pieces from one place of 64 MiB to another."""
    source, target = (np.ones(64 << 20, np.uint8) for _ in range(2))
    places = [(at, min(piece, len(source) - at)) for at in range(0, len(source), piece)]
    copied, started = 0, time.process_time()
    while copied < moved:
        at, size = places[copied // piece % len(places)]
        target[at : at + size] = source[at : at + size]
        copied += piece
    return time.process_time() - started
