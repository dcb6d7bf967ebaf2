"""Exceptions of a serial line."""

from flashtrain.host.errors import HostError


class WireDropped(HostError):
    """The line to a board is cut, or brings no whole answer within the time limit. The message names it."""
