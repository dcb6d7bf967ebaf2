"""The code of saved tensors: what the stream's codec makes of an array depends on the array's type."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import DTypeLike

from flashtrain.host import DeviceStream
from flashtrain.spec.streams import Codec

from .errors import CodecUnavailable


class Encoding(NamedTuple):
    """How a storage is appended: as an array of `elements`, which the stream encodes by `codec`."""

    codec: Codec
    elements: np.dtype

    @property
    def rounds(self) -> bool:
        return self.codec is Codec.ROUND16


_AVAILABLE = {
    Codec.RAW: (Codec.RAW,),
    Codec.WINDOW16: (Codec.WINDOW16,),
    Codec.WINDOW32: (Codec.WINDOW32, Codec.WINDOW16),
    Codec.ROUND16: (Codec.ROUND16, Codec.WINDOW16),
}
"""By the codec of a stream: the codecs that its appends can have."""


class CodecChoice:
    """The codec of each saved storage in one stream.

    FP32 in a stream of WINDOW32 has that codec. A stream of FP32 encodes arrays of all other types by
    WINDOW16, which is exact for any bits. So one stream serves FP32 and BF16. Without `asked` nothing is
    rounded: a stream of ROUND16 gets the bits of FP32 as integers.

    :class:`CodecUnavailable` if the stream does not have the codec `asked`.
    """

    def __init__(self, stream: DeviceStream, asked: Codec | str | None) -> None:
        self._stream = stream
        self._asked = None if asked is None else self.named(asked)

    def named(self, asked: Codec | str) -> Codec:
        """The codec called `asked`, which must be one of the stream's."""
        own = self._stream.table.codec
        try:
            codec = Codec[asked.upper()] if isinstance(asked, str) else Codec(asked)
        except (KeyError, ValueError) as error:
            names = ", ".join(codec.name for codec in Codec)
            raise CodecUnavailable(f"codec is {asked!r}; expected one of {names}") from error
        if codec not in _AVAILABLE[own]:
            names = " or ".join(codec.name for codec in _AVAILABLE[own])
            raise CodecUnavailable(
                f"codec {codec.name} in stream {self._stream.name!r} of codec {own.name}; expected {names},"
                " or a device of a preset with codecs that is opened with"
                f" node.with_codecs({self._stream.name}=Codec.{codec.name})"
            )
        return codec

    def encoding(self, dtype: torch.dtype, nbytes: int, asked: Codec | None = None) -> Encoding:
        """The encoding of a storage of `nbytes` in which elements of `dtype` lie."""
        own, asked = self._stream.table.codec, self._asked if asked is None else asked
        is_float32 = dtype is torch.float32 and nbytes % 4 == 0
        if own is Codec.RAW:
            return Encoding(Codec.RAW, np.dtype(np.uint8))
        if own is Codec.WINDOW32 and is_float32 and asked is not Codec.WINDOW16:
            return Encoding(Codec.WINDOW32, np.dtype(np.float32))
        if own is Codec.ROUND16 and is_float32 and asked is Codec.ROUND16:
            return Encoding(Codec.ROUND16, np.dtype(np.float32))
        integers: DTypeLike = np.uint16 if nbytes % 2 == 0 else np.uint8
        return Encoding(Codec.WINDOW16, np.dtype(integers))
