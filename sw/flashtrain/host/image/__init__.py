"""The file that keeps the flash of a simulated device from one process to the next (docs/image.md)."""

from .flash_image import FlashImage
from .image_file import image_configuration, open_image, view_image
from .image_view import ImageView

__all__ = ["FlashImage", "ImageView", "image_configuration", "open_image", "view_image"]
