"""The accelerator `late` of `late_device.cpp`, for a process of its own: PyTorch has it until its end."""

import ctypes
from pathlib import Path
from types import ModuleType

import torch

from flashtrain.native.library import native_library

NAME = "late"
VERSION = "2.13."
"""Of PyTorch, whose headers it is compiled with."""

_ROOT = Path(torch.__file__).parent
_OPTIONS = (
    "-O0",
    "-std=c++20",
    "-w",
    f"-DTORCH={torch.__version__.partition('+')[0].replace('.', '')}",
    f"-I{_ROOT / 'include'}",
    f"-I{_ROOT / 'include' / 'torch' / 'csrc' / 'api' / 'include'}",
    f"-L{_ROOT / 'lib'}",
    "-Wl,--no-as-needed",
    "-lc10",
    "-ltorch_cpu",
)
_FUNCTIONS = {
    "late_asynchronous_copies": (ctypes.c_long, []),
    "late_pinned_bytes": (ctypes.c_long, []),
}


def compiled() -> ctypes.CDLL:
    """The library, which is compiled once for a version of PyTorch; to load it registers the device."""
    return native_library(
        "late_device", [Path(__file__).with_name("late_device.cpp")], _FUNCTIONS, options=_OPTIONS
    )


def register() -> ctypes.CDLL:
    """Make it the accelerator of this process."""
    library = compiled()
    torch.utils.rename_privateuse1_backend(NAME)
    module = ModuleType(NAME)
    vars(module).update(
        is_available=lambda: True,
        current_device=lambda: 0,
        device_count=lambda: 1,
        is_initialized=lambda: True,
        _is_in_bad_fork=lambda: False,
        manual_seed_all=lambda seed: None,
        get_amp_supported_dtype=lambda: [torch.bfloat16],
        get_rng_state=lambda device=None: torch.empty(0),
        set_rng_state=lambda state, device=None: None,
    )
    torch._register_device_module(NAME, module)
    torch.utils.generate_methods_for_privateuse1_backend()
    return library
