"""An open image as the simulated arrays take it: `Format` of array_image.h."""

import ctypes

from flashtrain.host.image import FlashImage
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.image import BLOCKS_AT, DIES_AT, BlockFlag, DieFlag, PageState

_U64 = ctypes.c_uint64


class ImageFormat(ctypes.Structure):
    """The members in their order."""

    _fields_ = [
        ("descriptor", ctypes.c_int64),
        *((name, _U64) for name in (
            "dies_at", "blocks_at", "pages_at", "cells_at", "cells_of_block", "channels", "dies", "planes",
            "blocks", "pages", "page_bytes", "identity_at", "identity_bytes", "coded", "whole", "torn",
            "broken", "marked", "stuck", "cut", "hung",
        )),
        ("clock", ctypes.c_double),
    ]  # fmt: skip


def image_format(image: FlashImage, config: FmsConfig) -> ImageFormat:
    g, layout = image.geometry, image.layout
    return ImageFormat(
        image.descriptor, DIES_AT, BLOCKS_AT, layout.pages_at, layout.cells_at, layout.cells_of_block,
        g.channels, g.dies, g.planes, g.blocks, g.pages, g.raw_page_bytes, g.page_bytes, PageIdentity.BYTES,
        config.code is not None, PageState.WHOLE, PageState.TORN, BlockFlag.BROKEN, BlockFlag.MARKED,
        BlockFlag.STUCK, BlockFlag.CUT, DieFlag.HUNG, image.clock,
    )  # fmt: skip
