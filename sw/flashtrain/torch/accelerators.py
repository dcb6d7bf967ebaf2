"""Tensors of an accelerator, to and from the memory of the host through pinned buffers on a side stream.

Only the generic parts of PyTorch are used: `torch.accelerator`, `torch.Stream` and `torch.Event`.
"""

from collections.abc import Iterator
from functools import cache
from threading import Lock

import torch
from torch import Tensor

STAGING_BYTES = 32 << 20
"""Bytes of pinned memory for each device, in two halves. They are allocated with the first copy."""


def is_on_accelerator(tensor: Tensor) -> bool:
    """Whether the tensor is in the memory of the accelerator of this machine."""
    if tensor.device.type in ("cpu", "meta"):
        return False
    current = torch.accelerator.current_accelerator()
    return current is not None and current.type == tensor.device.type


def host_copy(tensor: Tensor) -> Tensor:
    """The numbers of a tensor in the memory of the host; one of the CPU is returned as it is."""
    own = tensor.detach()
    if not is_on_accelerator(own) or own._is_zerotensor():
        return own.to("cpu")
    return _staging_of(own.device).to_host(own)


def write_from_host(target: Tensor, source: Tensor) -> None:
    """Write a tensor of the CPU to another one of its shape in place, rounded to the dtype of that."""
    with torch.no_grad():
        if is_on_accelerator(target):
            _staging_of(target.device).to_device(target, source.to(target.dtype))
        else:
            target.copy_(source)


class HostStaging:
    """Pinned buffers of a device, and the side stream that copies to and from them.

    A copy is made in pieces of half the buffers. The stream fills one half while the host works on the other.
    Copies follow all that the current stream was given before. The host waits for a copy from the device, and
    the current stream for a copy to it.

    device: with its index. nbytes: of both halves.
    """

    def __init__(self, device: torch.device, nbytes: int = STAGING_BYTES) -> None:
        self._device = device
        self._stream = torch.Stream(device)
        size = nbytes // 2
        self._halves = [_Half(device, size) for _ in range(2)]
        self._pieces = size
        self._turn = 0
        self._lock = Lock()

    def to_host(self, tensor: Tensor) -> Tensor:
        """A tensor of the CPU with the numbers of one of the device; what is lazy in it stays lazy."""
        if tensor.is_conj():
            return self.to_host(tensor.conj()).conj()
        if tensor.is_neg():
            return _negated(self.to_host(_negated(tensor)))
        plain = tensor.contiguous()
        host = torch.empty(plain.shape, dtype=plain.dtype, device="cpu")
        source, target = bytes_of(plain), bytes_of(host)
        with self._lock:
            self._follow()
            under_way: list[tuple[_Half, slice]] = []
            for piece in self._split(len(source)):
                half = self._next()
                half.copy(self._stream, half.memory[: piece.stop - piece.start], source[piece])
                under_way.append((half, piece))
                if len(under_way) > 1:
                    _take(target, *under_way.pop(0))
            for half, piece in under_way:
                _take(target, half, piece)
        return host

    def to_device(self, target: Tensor, host: Tensor) -> None:
        """Write a tensor of the CPU to one of the device of the same shape and dtype, in place."""
        if not target.is_contiguous():
            plain = torch.empty(target.shape, dtype=target.dtype, device=target.device)
            self.to_device(plain, host)
            target.copy_(plain)
            return
        source, places = bytes_of(host.contiguous()), bytes_of(target)
        with self._lock:
            self._follow()
            half = None
            for piece in self._split(len(source)):
                half = self._next()
                part = half.memory[: piece.stop - piece.start]
                part.copy_(source[piece])
                half.copy(self._stream, places[piece], part)
            if half is not None:
                torch.accelerator.current_stream(self._device).wait_event(half.copied)

    def _follow(self) -> None:
        """Let the side stream wait for what the current stream has been given."""
        given = torch.Event(self._device)
        given.record(torch.accelerator.current_stream(self._device))
        self._stream.wait_event(given)

    def _next(self) -> "_Half":
        """The other half, when its last copy has ended."""
        self._turn = 1 - self._turn
        half = self._halves[self._turn]
        half.copied.synchronize()
        return half

    def _split(self, count: int) -> Iterator[slice]:
        for first in range(0, count, self._pieces):
            yield slice(first, min(first + self._pieces, count))


class _Half:
    """Half of the buffers. copied: the end of its last copy."""

    def __init__(self, device: torch.device, nbytes: int) -> None:
        self.memory = torch.empty(nbytes, dtype=torch.uint8, device="cpu", pin_memory=True)
        self.copied = torch.Event(device)

    def copy(self, stream: torch.Stream, target: Tensor, source: Tensor) -> None:
        """Begin a copy, one end of which is in this half."""
        with stream:
            target.copy_(source, non_blocking=True)
        self.copied.record(stream)


def _take(target: Tensor, half: _Half, piece: slice) -> None:
    """Take a piece out of a half, when it has come."""
    half.copied.synchronize()
    target[piece].copy_(half.memory[: piece.stop - piece.start])


def _negated(tensor: Tensor) -> Tensor:
    return torch._neg_view(tensor)  # pyright: ignore[reportPrivateImportUsage]


def bytes_of(tensor: Tensor) -> Tensor:
    """The bytes of a contiguous tensor, with which they share memory."""
    # A tensor of one element may have any strides.
    return tensor.as_strided((tensor.numel(),), (1,)).view(torch.uint8)


@cache
def _staging_of(device: torch.device) -> HostStaging:
    return HostStaging(device)
