"""The functional model with a clock: an access to a register takes ten cycles, a wait a hundred."""

from flashtrain.host import FunctionalLink
from flashtrain.spec import FmsConfig


class CountingLink(FunctionalLink):
    """`slower`: times all cycles."""

    def __init__(self, config: FmsConfig, memory_bytes: int, slower: int = 1) -> None:
        self._cycles, self._slower = 0, slower
        super().__init__(config, memory_bytes)

    @property
    def cycles(self) -> int:
        return self._cycles

    def write_register(self, address: int, value: int) -> None:
        super().write_register(address, value)
        self.run(10)

    def wait(self, max_cycles: int | None = None) -> bool:
        self.run(100)
        return super().wait(max_cycles)

    def run(self, cycles: int) -> None:
        self._cycles += cycles * self._slower
