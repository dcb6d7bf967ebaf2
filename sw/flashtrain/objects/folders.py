"""Folders: those that were made, and those that paths of objects imply."""

from .url import parent_of


class Folders:
    """The paths in each folder. A folder that was not made ends with the last path in it."""

    def __init__(self) -> None:
        self._inside: dict[str, set[str]] = {}
        self._own: set[str] = set()

    def add(self, path: str) -> None:
        """Add an object or a folder."""
        self._own.add(path)
        while path:
            parent = parent_of(path)
            inside = self._inside.setdefault(parent, set())
            if path in inside:
                break
            inside.add(path)
            path = parent

    def discard(self, path: str) -> None:
        """Remove an object or a folder. A folder that has paths in it stays."""
        self._own.discard(path)
        while path and path not in self._own and path not in self._inside:
            parent = parent_of(path)
            inside = self._inside[parent]
            inside.discard(path)
            if inside:
                break
            del self._inside[parent]
            path = parent

    def inside(self, path: str) -> list[str]:
        """The paths of a folder, in their order; empty for all that has none."""
        return sorted(self._inside.get(path, ()))

    def below(self, path: str) -> list[str]:
        """The paths of a folder and of all folders in it."""
        found = []
        for one in self.inside(path):
            found += [one, *self.below(one)]
        return found
