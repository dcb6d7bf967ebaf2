"""A board behind a serial line: `SerialLink`, its frames and its wire."""

from .errors import WireDropped
from .serial_link import SerialLink

__all__ = ["SerialLink", "WireDropped"]
