"""The window code (`flashtrain.spec.codec`) in NumPy: whole appends to stored pages, and back.

    pages = encode(array.tobytes(), Codec.WINDOW16, page_bytes=4096)     # uint8[pages, 4096]
    data = decode(pages[::-1], Codec.WINDOW16, len(data))                 # in any order

It is the reference model of the hardware: equal data give equal pages.
"""

from .decoder import PageRefused, PagesIncomplete, decode, decode_page
from .encoder import encode
from .page_figures import PageFigures, page_figures

__all__ = [
    "PageFigures", "PageRefused", "PagesIncomplete", "decode", "decode_page", "encode", "page_figures",
]  # fmt: skip
