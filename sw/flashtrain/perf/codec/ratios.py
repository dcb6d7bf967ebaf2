"""Bytes of tensors in the window code and in its alternatives."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.codec import encode
from flashtrain.numerics.codec.elements import stored_slices
from flashtrain.spec.codec import Header, Refusal
from flashtrain.spec.streams import Codec

from .alternatives import ALTERNATIVES
from .best_choice import best_pages

CODECS = (Codec.ROUND16, Codec.WINDOW32)
"""Codecs of FP32 tensors."""

FLOAT_BYTES = 4


@dataclass(frozen=True)
class Coded:
    """An append in the window code.

    - pages: stored, the last one padded; best_pages: with the best choice of mode and base for each.
    - modes: pages of each mode by name.
    - changes: pages whose mode or window is not that of the page before.
    """

    pages: int
    best_pages: int
    modes: dict[str, int]
    changes: int


@dataclass(frozen=True)
class TensorRatios:
    """A tensor, or several together.

    - bytes: of the tensor; zeros: elements that are +0.0, of `elements`.
    - alternatives: bytes in other codes by name.
    - coded: by the name of the codec.
    """

    name: str
    bytes: int
    elements: int
    zeros: int
    page_bytes: int
    alternatives: dict[str, int]
    coded: dict[str, Coded]

    def ratio(self, code: str, element_bytes: int = FLOAT_BYTES) -> float:
        """Bytes of the tensor per byte in an alternative, or in stored pages of a codec.

        element_bytes: of the tensor in another format.
        """
        size = self.bytes * element_bytes / FLOAT_BYTES
        return size / (
            self.coded[code].pages * self.page_bytes if code in self.coded else self.alternatives[code]
        )

    def loss(self, codec: str) -> float:
        """Pages that the rule of mode and base takes above the best choice for each page."""
        coded = self.coded[codec]
        return coded.pages / coded.best_pages - 1

    def document(self, element_bytes: int = FLOAT_BYTES) -> dict[str, object]:
        codes = (*self.alternatives, *self.coded)
        return {
            "name": self.name,
            "bytes": self.bytes * element_bytes // FLOAT_BYTES,
            "zeros": self.zeros / self.elements,
            "ratios": {code: self.ratio(code, element_bytes) for code in codes},
            "pages": {name: asdict(coded) for name, coded in self.coded.items()},
        }


def tensor_ratios(
    name: str, array: NDArray[np.float32], page_bytes: int, alternatives: Iterable[str]
) -> TensorRatios:
    """The bytes of one tensor; an append of it has whole logical blocks."""
    array = np.ascontiguousarray(array, "<f4").reshape(-1)
    data = array.tobytes()
    data += bytes(-len(data) % page_bytes)
    return TensorRatios(
        name, array.nbytes, array.size, int(np.count_nonzero(array.view(np.uint32) == 0)), page_bytes,
        {code: ALTERNATIVES[code](array) for code in alternatives},
        {codec.name: _coded(data, codec, page_bytes) for codec in CODECS},
    )  # fmt: skip


def together(name: str, tensors: list[TensorRatios]) -> TensorRatios:
    """The sums of several tensors of one page size."""
    first = tensors[0]
    coded = {codec: _sum([tensor.coded[codec] for tensor in tensors]) for codec in first.coded}
    return TensorRatios(
        name, sum(t.bytes for t in tensors), sum(t.elements for t in tensors),
        sum(t.zeros for t in tensors), first.page_bytes,
        {code: sum(t.alternatives[code] for t in tensors) for code in first.alternatives}, coded,
    )  # fmt: skip


def with_raw(name: str, tensors: TensorRatios, raw: list[int]) -> TensorRatios:
    """The same with arrays of so many bytes, which every code leaves as they are."""
    added, page_bytes = sum(raw), tensors.page_bytes
    pages = sum(-(-size // page_bytes) for size in raw)
    return replace(
        tensors,
        name=name,
        bytes=tensors.bytes + added,
        alternatives={code: size + added for code, size in tensors.alternatives.items()},
        coded={
            codec: replace(coded, pages=coded.pages + pages, best_pages=coded.best_pages + pages)
            for codec, coded in tensors.coded.items()
        },
    )


def _sum(coded: list[Coded]) -> Coded:
    modes: Counter[str] = Counter()
    for each in coded:
        modes.update(each.modes)
    return Coded(
        sum(each.pages for each in coded), sum(each.best_pages for each in coded), dict(modes),
        sum(each.changes for each in coded),
    )  # fmt: skip


def _coded(data: bytes, codec: Codec, page_bytes: int) -> Coded:
    pages = encode(data, codec, page_bytes)
    end = stored_slices(len(data), codec)
    headers = [Header.unpack(page.tobytes(), codec, end) for page in pages]
    choices = [header.choice for header in headers if not isinstance(header, Refusal)]
    windows = [(choice.mode, choice.base if choice.mode.exponents else None) for choice in choices]
    return Coded(
        pages=len(pages),
        best_pages=best_pages(data, codec, page_bytes),
        modes=dict(Counter(choice.mode.name for choice in choices)),
        changes=sum(before != after for before, after in pairwise(windows)),
    )
