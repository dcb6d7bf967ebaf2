"""Values of plain types in few bytes, and back exactly.

The bytes are compressed JSON, with the bytes of arrays behind it. They are no pickle: that may run any code
when it is loaded, and a checkpoint may be another's.
"""

import json
import struct
import zlib
from collections import Counter
from typing import Any

import numpy as np

from flashtrain.checkpoint.errors import CheckpointDamaged, CheckpointError
from flashtrain.reading import inflated
from flashtrain.reading.limits import MOST_JSON_BYTES, MOST_UNPACKED_BYTES

_MAGIC = b"FTV1"
_LENGTH = struct.Struct("<I")
_PLAIN = (type(None), bool, int, float, str)
_TAG = "$"
"""A dictionary whose first key begins with it stands for a value that JSON does not have."""


def packed(value: Any) -> bytes:
    """The bytes of None, numbers, strings, bytes, arrays and scalars of NumPy, and of lists, tuples,
    dictionaries and counters of these; :class:`CheckpointError` names what is anything else, or too much."""
    blobs: list[bytes] = []
    text = json.dumps(_encoded("", value, blobs), separators=(",", ":")).encode()
    data = b"".join((_LENGTH.pack(len(text)), text, *blobs))
    if len(text) > MOST_JSON_BYTES or len(data) > MOST_UNPACKED_BYTES:
        raise CheckpointError(
            f"the values have {len(text):,} bytes as text, and {len(data):,} with their arrays; expected at"
            f" most {MOST_JSON_BYTES:,} and {MOST_UNPACKED_BYTES:,}"
        )
    return _MAGIC + zlib.compress(data, 9)


def unpacked(raw: bytes) -> Any:
    """The value of these bytes, of the same types; :class:`CheckpointDamaged` if they are of none."""
    if raw[: len(_MAGIC)] != _MAGIC:
        raise CheckpointDamaged(f"the values begin with {raw[:4]!r}; expected {_MAGIC!r}")
    try:
        data = memoryview(inflated(raw[len(_MAGIC) :], MOST_UNPACKED_BYTES))
        (length,) = _LENGTH.unpack_from(data)
        if length > MOST_JSON_BYTES:
            raise ValueError(f"a text of {length:,} bytes; expected {MOST_JSON_BYTES:,} at most")
        end = _LENGTH.size + length
        return _decoded(json.loads(bytes(data[_LENGTH.size : end])), _Blobs(data[end:]))
    except (struct.error, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise CheckpointDamaged(f"the values are malformed: {error}") from error


class _Blobs:
    """The bytes behind the JSON, taken in its order."""

    def __init__(self, data: memoryview) -> None:
        self._left = data

    def take(self, nbytes: int) -> bytes:
        if nbytes not in range(len(self._left) + 1):
            raise ValueError(f"{nbytes} bytes of an array; there are {len(self._left)}")
        taken, self._left = bytes(self._left[:nbytes]), self._left[nbytes:]
        return taken


def _encoded(path: str, value: Any, blobs: list[bytes]) -> Any:
    kind: type = type(value)
    if kind in _PLAIN:
        return value
    if kind is bytes:
        blobs.append(value)
        return {"$bytes": len(value)}
    if issubclass(kind, np.ndarray | np.generic) and not value.dtype.hasobject:
        blobs.append(np.ascontiguousarray(value).tobytes())
        shape = list(value.shape) if kind is np.ndarray else None
        return {"$array": [value.dtype.str, shape, value.nbytes]}
    if kind is list or kind is tuple:
        items = [_encoded(f"{path}/{number}", item, blobs) for number, item in enumerate(value)]
        return items if kind is list else {"$tuple": items}
    if kind is dict or kind is Counter:
        own = [
            (_encoded(path, key, blobs), _encoded(f"{path}/{key}", item, blobs))
            for key, item in value.items()
        ]
        if kind is dict and all(type(key) is str and not key.startswith(_TAG) for key in value):
            return dict(own)
        return {"$dict" if kind is dict else "$counter": own}
    raise CheckpointError(f"{path or 'the value'} is a {kind.__name__}; expected a number, text, bytes, "
                          "an array, or a list, tuple or dictionary of these")  # fmt: skip


def _decoded(value: Any, blobs: _Blobs) -> Any:
    if isinstance(value, list):
        return [_decoded(item, blobs) for item in value]
    if not isinstance(value, dict):
        return value
    tag = next(iter(value), "")
    if not tag.startswith(_TAG):
        return {key: _decoded(item, blobs) for key, item in value.items()}
    content = value[tag]
    if tag == "$bytes":
        return blobs.take(content)
    if tag == "$array":
        dtype, shape, nbytes = content
        flat = np.frombuffer(blobs.take(nbytes), dtype)
        return flat[0] if shape is None else flat.reshape(shape).copy()
    if tag == "$tuple":
        return tuple(_decoded(item, blobs) for item in content)
    pairs = [(_decoded(key, blobs), _decoded(item, blobs)) for key, item in content]
    return {"$dict": dict, "$counter": lambda pairs: Counter(dict(pairs))}[tag](pairs)
