"""Mutated images on devices: each is inspected, opened, read and written."""

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from flashtrain.host import LinkFactory, open_device
from flashtrain.inspection import inspect, inspected
from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.spec.streams import STORE_NODE

from .content import MEMORY_BYTES, Content
from .mutations import Mutator

CONTENTS = 8
"""Images before their damage."""
MOST_FAULTS = 20
"""After which a campaign ends."""


@dataclass
class DamageTally:
    """Counts of a campaign.

    - images: that were mutated; resealed: those of them with right checksums.
    - inspected: with a report; whole: with all sections of it. opened: by a device.
    - right, refused, wrong: arrays that were read as they were stored, that a device refused to return, and
      that had other bytes.
    - faults: wrong bytes, and errors that are no message of ours; each with the number of its image.
    """

    images: int = 0
    resealed: int = 0
    inspected: int = 0
    whole: int = 0
    opened: int = 0
    right: int = 0
    refused: int = 0
    wrong: int = 0
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class DamageCampaign:
    """Images of a device, each a file in `folder`, opened by the Links in turn."""

    config: FmsConfig
    links: Sequence[LinkFactory]
    folder: Path
    seed: int
    tally: DamageTally = field(default_factory=DamageTally)

    def __post_init__(self) -> None:
        self._path = self.folder / "flash.img"
        self._contents: dict[int, Content] = {}
        self._mutator = Mutator(self.config)

    def run(
        self, images: int, first: int = 0, progress: Callable[[DamageTally], None] = lambda tally: None
    ) -> DamageTally:
        """Damage images from number `first` on; each depends on the seed and its number only."""
        started = time.monotonic()
        for number in range(first, first + images):
            self._one(number)
            progress(self.tally)
            if len(self.tally.faults) >= MOST_FAULTS:
                break
        self.tally.seconds = time.monotonic() - started
        return self.tally

    def _one(self, number: int) -> None:
        random = Random(f"{self.seed}:{number}")
        content = self._content(random.randrange(CONTENTS))
        image = bytearray(content.image)
        mutation = self._mutator.mutate(image, random)
        link = self.links[number % len(self.links)]
        self._path.write_bytes(image)
        self.tally.images += 1
        self.tally.resealed += mutation.resealed
        for step in (
            self._inspect,
            lambda: self._open(content, link, random.random() < 0.5, random.random() < 0.5),
        ):
            try:
                wrong = step()
            except Exception:  # of any kind: it is what the campaign looks for
                wrong = [traceback.format_exc()]
            self.tally.faults += [f"image {number} ({mutation.places}): {fault}" for fault in wrong]

    def _content(self, which: int) -> Content:
        if which not in self._contents:
            random = Random(f"{self.seed}, content {which}")
            self._contents[which] = Content.make(self.config, self.folder / "new.img", random)
        return self._contents[which]

    def _inspect(self) -> list[str]:
        try:
            with inspected(self._path) as image:
                report = inspect(image)
            self.tally.inspected += 1
            self.tally.whole += report.content is not None
        except FlashtrainError:
            pass
        return []

    def _open(self, content: Content, link: LinkFactory, given: bool, orderly: bool) -> list[str]:
        """given: the caller has the configuration and the streams, and not the image."""
        try:
            device = open_device(
                content.config if given else None, link, STORE_NODE if given else None, MEMORY_BYTES,
                image=self._path,
            )  # fmt: skip
        except FlashtrainError:
            return []
        with device:
            self.tally.opened += 1
            compared = content.compare(device)
            self.tally.right += compared.right
            self.tally.refused += compared.refused
            self.tally.wrong += len(compared.wrong)
            if orderly:
                try:
                    device.shutdown()
                except FlashtrainError:
                    pass
        return compared.wrong
