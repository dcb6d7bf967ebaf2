"""Names that must differ."""

from collections.abc import Iterable


def repeated(names: Iterable[str]) -> str | None:
    """The first name that comes for the second time, in linear time."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
