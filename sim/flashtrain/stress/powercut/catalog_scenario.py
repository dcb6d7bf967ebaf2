"""Changes of a catalogue of named arrays, as a scenario."""

from collections.abc import Callable
from random import Random

from flashtrain.host import Catalog, Device
from flashtrain.spec import FmsConfig, NodeTable, Port
from flashtrain.spec.streams import CATALOG, STORE_NODE

from .catalog_oracle import CatalogOracle
from .survival import Survival

STEPS = 6
"""Changes of an iteration."""
PAGES = 20
"""Pages of an array at most: several such do not fit into a zone of `tiny`."""


class CatalogScenario:
    """Random assignments, renames and deletions. A loss of power in the midst of one leaves what was before
    it, or what is after it."""

    def __init__(self, seed: int, iterations: int) -> None:
        self.on_append: Callable[[], None] = lambda: None
        self._random = Random(f"{seed}/catalogue")
        self._iterations = iterations
        self._oracle: CatalogOracle | None = None

    def node(self, config: FmsConfig) -> NodeTable:
        return STORE_NODE

    def run(self, device: Device) -> None:
        most_bytes = PAGES * device.config.geometry.page_bytes
        self._oracle = CatalogOracle(self._random, most_bytes, lambda: self.on_append())
        for _ in range(self._iterations * STEPS):
            self._oracle.step(device.catalog)

    def judge(self, device: Device, survival: Survival) -> None:
        oracle = self._oracle or CatalogOracle(self._random, 1)
        oracle.on_append = lambda: None
        oracle.check(device.catalog, survival)
        oracle.check(Catalog(device.stream(CATALOG, Port.HOST)), Survival())  # as the flash has it
        # It works on.
        for _ in range(STEPS):
            oracle.step(device.catalog)
        oracle.check(device.catalog, Survival())
