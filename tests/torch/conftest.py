"""What the tests of `flashtrain.torch` share."""

import pytest
import torch

from flashtrain.host import open_device
from flashtrain.spec.streams import UPDATE_NODE
from tests.training.optimizers.test_torch import correct_root


@pytest.fixture
def device():
    """A functional device with streams for optimizer state and inputs."""
    with open_device("tiny", node=UPDATE_NODE) as opened:
        yield opened


@pytest.fixture(autouse=True)
def reproducible(seed):
    """Random numbers by the seed, and one thread: the tests run beside others."""
    torch.manual_seed(seed)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def fused_kernels():
    """The dies follow kernels with fused multiply-add, which need AVX2 or AVX-512."""
    if torch.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"):
        pytest.skip("this processor has no AVX2: PyTorch's kernels round otherwise")


@pytest.fixture
def exact_root(fused_kernels):
    """PyTorch with a square root that is rounded correctly: then Adam is equal to the bit."""
    with correct_root():
        yield
