"""A Link whose power fails at a command of a chosen number."""

from flashtrain.host import FunctionalLink


class PowerCut(Exception):
    """The power has failed."""


class CountedLink(FunctionalLink):
    """Its power fails before the write of a doorbell, when `left` of them have been written.

    left: None while it does not fail.
    """

    left: int | None = None

    def write_register(self, address: int, value: int) -> None:
        if address >= 0x1000 and self.left is not None:
            if self.left == 0:
                raise PowerCut
            self.left -= 1
        super().write_register(address, value)
