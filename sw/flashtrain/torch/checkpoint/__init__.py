"""Checkpoints for training in PyTorch: `torch.distributed.checkpoint` and `torch.save` on a device."""

from flashtrain.checkpoint.flash_file import flash_file

from .flash_reader import FlashReader
from .flash_writer import FlashWriter

__all__ = ["FlashReader", "FlashWriter", "flash_file"]
