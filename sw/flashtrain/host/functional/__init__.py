"""The functional model: a device with exact data and exact status codes, and no time.

Written from the text of `flashtrain.spec`, apart from the RTL, so that each can be the judge of the other.
"""

from .link import FunctionalLink

__all__ = ["FunctionalLink"]
