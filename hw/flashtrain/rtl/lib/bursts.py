"""How a page is cut into AXI bursts: one, or several of the longest kind where a page has more beats."""

from dataclasses import dataclass

from amaranth import Const

from flashtrain.spec import FmsConfig

LONGEST_BURST = 256  # beats of an INCR burst (AXI4, A3.4.1)


@dataclass(frozen=True)
class PageBursts:
    """Bursts of one page on the data port of `config`.

    by_parts: no burst is of two parts that a read may name.
    """

    config: FmsConfig
    by_parts: bool = False

    @property
    def beats(self) -> int:
        """Beats per burst."""
        parts = self.config.page_parts if self.by_parts else 1
        return min(self.config.page_beats // parts, LONGEST_BURST)

    @property
    def of_part(self) -> int:
        """Bursts per part."""
        return self.count // self.config.page_parts

    @property
    def count(self) -> int:
        """Bursts per page."""
        return self.config.page_beats // self.beats

    @property
    def bytes(self) -> int:
        return self.beats * self.config.data_bytes

    def address(self, page, number, first_byte=None):
        """Byte address of burst `number` of the logical block at `page` (a value in logical blocks).

        first_byte: where the first burst is in that block, if not at its start.
        """
        base = page << self.config.page_shift
        if first_byte is not None:
            base = base | first_byte
        return base if self.count == 1 else base + number * Const(self.bytes)
