"""The library of the kernels."""

import ctypes
from functools import cache
from pathlib import Path

from flashtrain.native.library import native_library

_SOURCES = sorted(Path(__file__).with_name("kernel").glob("*.[ch]*"))
_POINTER, _I64 = ctypes.c_void_p, ctypes.c_int64
_FUNCTIONS = {
    "flashtrain_encode": (_I64, [_POINTER, _POINTER, _I64, _POINTER]),
    "flashtrain_decode": (ctypes.c_int, [_POINTER, _POINTER, _I64, _I64, _POINTER]),
    "flashtrain_tiles": (None, [_POINTER, _I64, _POINTER, _POINTER, _POINTER, _I64, _POINTER]),
}


@cache
def load_kernels() -> ctypes.CDLL:
    """The library, compiled unless the user's cache has it. `ToolError` without a compiler."""
    return native_library("flashtrain_numerics", _SOURCES, _FUNCTIONS, options=("-fno-math-errno",))
