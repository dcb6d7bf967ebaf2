"""The I/O commands that were refused: a host that believes DNR sends none of them again."""

from collections import OrderedDict

from flashtrain.nvme.wire.commands import Entry

_MOST_KEPT = 4096


class Refusals:
    """Counts refused commands, and those that were refused before in the same words."""

    def __init__(self) -> None:
        self.count = 0
        self.repeated = 0
        self._kept: OrderedDict[tuple[str, Entry], None] = OrderedDict()

    def note(self, host: str, entry: Entry) -> bool:
        """Note a refusal; whether the host has sent the same command again since the last refusal of it."""
        key = (host, entry._replace(cid=0))
        again = key in self._kept
        self.count += 1
        self.repeated += again
        self._kept[key] = None
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return again
