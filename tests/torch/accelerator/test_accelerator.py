"""Tensors of an accelerator: on that of this machine, if it has one, and on one that is late on purpose."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
import torch

from flashtrain.native.user_cache import select_cache, user_cache
from flashtrain.torch.accelerators import STAGING_BYTES, bytes_of, host_copy
from tests.torch.accelerator import checks, late_device

_library: Any = None


def begin(folder):
    """In a process of its own, which has the late device until its end."""
    global _library
    select_cache(folder)
    _library = late_device.register()
    torch.set_num_threads(1)


def carried_out(name):
    """The result of a check, and the copies at the side of the host and the pinned bytes by then."""
    found = getattr(checks, name)(late_device.NAME)
    return found, _library.late_asynchronous_copies(), _library.late_pinned_bytes()


@pytest.fixture(scope="module")
def late():
    """The process, after the library is compiled: 10 s, once for a version of PyTorch."""
    if not torch.__version__.startswith(late_device.VERSION):
        pytest.skip(f"the late device is for the headers of PyTorch {late_device.VERSION}")
    with ProcessPoolExecutor(1, get_context("spawn"), begin, (user_cache().folder,)) as pool:
        yield lambda name: pool.submit(carried_out, name).result()


@pytest.mark.parametrize("check", [check.__name__ for check in checks.CHECKS])
def test_late_device(late, check):
    found, copies, pinned = late(check)
    print(f"{check}: {found}, {copies} asynchronous copies, {pinned:,} pinned bytes")
    assert found and copies
    assert pinned <= 2 * STAGING_BYTES  # with that of the check itself


def test_a_wait_that_is_left_out(late):
    """The late device finds each of them."""
    found, _, _ = late("order_without_waits")
    assert all(found), found


@pytest.mark.long
def test_modules_that_pytorch_tests(late):
    """With PyTorch's own samples; the late device has no convolutions and no fused cells of RNNs."""
    (compared, moved, left_out), _, _ = late("modules")
    names = ", ".join(dict.fromkeys(left_out))
    print(f"{compared} samples compared, {moved:,} bytes read; {len(left_out)} left out, of {names}")
    assert compared > 1000 and not [name for name in left_out if name.startswith("nn.Transformer")]


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_accelerator(check):
    """The same on the accelerator of this machine."""
    device = torch.accelerator.current_accelerator(check_available=True)
    if device is None:
        pytest.skip("no accelerator of PyTorch on this machine")
    print(f"{check.__name__} on {device}: {check(device.type)}")


@pytest.mark.long
def test_modules_on_the_accelerator():
    device = torch.accelerator.current_accelerator(check_available=True)
    if device is None:
        pytest.skip("no accelerator of PyTorch on this machine")
    compared, moved, left_out = checks.modules(device.type)
    print(f"{compared} samples compared on {device}, {moved:,} bytes read; left out: {left_out}")
    assert compared > 1000 and not left_out


def test_tensors_of_the_cpu_are_not_copied():
    tensor = torch.ones(3)
    assert host_copy(tensor).data_ptr() == tensor.data_ptr()


@pytest.mark.parametrize("offset", [0, 2])
def test_bytes_of_one_number(offset):
    """It is contiguous with any stride."""
    one = torch.tensor([1.5, 2.5, -3.5, 4.5]).as_strided((1, 1), (7, 3), offset)
    assert one.is_contiguous()
    assert bytes_of(one).numpy().view("float32").tolist() == [[1.5, -3.5][offset // 2]]
