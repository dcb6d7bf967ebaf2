"""The functional model: a device with exact data and exact status codes, and no time.

It implements the text of `flashtrain.spec`, independently of the RTL, so that each checks the other.
"""

from .link import FunctionalLink

__all__ = ["FunctionalLink"]
