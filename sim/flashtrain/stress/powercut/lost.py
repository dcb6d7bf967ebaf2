"""The finding of a campaign: data that a power failure has lost."""

from dataclasses import dataclass

from flashtrain.spec import FlashtrainError


@dataclass(frozen=True)
class Cut:
    """A power failure: at a cycle of a training run, by its number."""

    run: int
    cycle: int


class Lost(FlashtrainError):
    """A device has lost what it had acknowledged, returned what is wrong, or does not work on.

    cut: by which it can be seen again, if it was one of many.
    """

    def __init__(self, what: str, cut: Cut | None = None) -> None:
        super().__init__(what)
        self.cut = cut
