"""The longest way to each node of a graph without cycles."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from flashtrain.spec.errors import FlashtrainError

Node = TypeVar("Node", bound=Hashable)


class CycleError(FlashtrainError):
    """Some nodes have no longest way: `nodes` are those on a cycle and behind one."""

    def __init__(self, nodes: Sequence[object]):
        self.nodes = nodes
        super().__init__(f"{len(nodes)} nodes are on a cycle or behind one")


class Levels(Generic[Node]):
    """Lengths and courses of the longest ways. `sources` has the nodes before each node, with their distance.

    Nodes without a source have length 0. Raises `CycleError`.
    """

    def __init__(self, sources: Mapping[Node, Sequence[tuple[Node, float]]]):
        self._length: dict[Node, float] = {}
        self._before: dict[Node, Node] = {}
        users = defaultdict[Node, list[Node]](list)
        waiting: dict[Node, int] = {}
        for node, ways in sources.items():
            pending = {source for source, _ in ways if source in sources}
            waiting[node] = len(pending)
            for source in pending:
                users[source].append(node)
        ready = [node for node, number in waiting.items() if not number]
        while ready:
            node = ready.pop()
            for source, distance in sources[node]:
                length = self[source] + distance
                if node not in self._before or length > self._length[node]:
                    self._length[node], self._before[node] = length, source
            for user in users[node]:
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
        unsettled = [node for node, number in waiting.items() if number]
        if unsettled:
            raise CycleError(unsettled)

    def __getitem__(self, node: Node) -> float:
        """The length of the longest way to a node."""
        return self._length.get(node, 0)

    def way(self, node: Node) -> list[Node]:
        """The nodes of the longest way to a node, from its beginning to the node."""
        found = [node]
        while found[-1] in self._before:
            found.append(self._before[found[-1]])
        return found[::-1]
