"""The file that keeps the flash of a simulated device from one process to the next (docs/image.md)."""

from .flash_image import FlashImage
from .image_file import image_configuration, open_image

__all__ = ["FlashImage", "image_configuration", "open_image"]
