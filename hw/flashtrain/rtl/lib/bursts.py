"""How a page is cut into AXI bursts: one, or several of the longest kind where a page has more beats."""

from dataclasses import dataclass

from amaranth import Const

from flashtrain.spec import FmsConfig

LONGEST_BURST = 256  # beats of an INCR burst (AXI4, A3.4.1)


@dataclass(frozen=True)
class PageBursts:
    """Bursts of one page on the data port of `config`."""

    config: FmsConfig

    @property
    def beats(self) -> int:
        """Beats per burst."""
        return min(self.config.page_beats, LONGEST_BURST)

    @property
    def count(self) -> int:
        """Bursts per page."""
        return self.config.page_beats // self.beats

    @property
    def bytes(self) -> int:
        return self.beats * self.config.data_bytes

    def address(self, page, number):
        """Byte address of burst `number` of the logical block at `page` (a value in logical blocks)."""
        base = page << self.config.page_shift
        return base if self.count == 1 else base + number * Const(self.bytes)
