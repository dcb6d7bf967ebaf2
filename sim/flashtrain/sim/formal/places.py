"""Where a `Queue` keeps its items, for invariants about what is in it."""

from amaranth.hdl import Module, Mux, Value

from .inside import Inside
from .theorem import Theorem

Place = tuple[Value, Value]
"""Whether there is an item in a place, and the item."""


def queue_places(m: Module, queue: Inside) -> list[Place]:
    """The places of a `Queue`, from its head on: a register at the output, and a memory that goes round."""
    fifo, depth = queue.part("fifo"), queue.unit.depth
    level, offered = fifo["inner_level"], queue.unit.output.valid
    words = []
    for ahead in range(depth - 1):
        words.append(fifo.word(m, "storage", _around(fifo["consume"] + ahead, depth - 1)))
    head = Mux(offered, Value.cast(queue.unit.output.payload), words[0])
    middle = [
        (level + offered > place, Mux(offered, words[place - 1], words[place]))
        for place in range(1, depth - 1)
    ]
    return [(offered | (level > 0), head), *middle, (offered & (level == depth - 1), words[-1])]


def queue_lemmas(theorem: Theorem, m: Module, queue: Inside) -> None:
    """Invariants of the pointers of a `Queue`."""
    fifo, size = queue.part("fifo"), queue.unit.depth - 1
    consume, produce, level = fifo["consume"], fifo["produce"], fifo["inner_level"]
    theorem.lemma(m, (consume < size) & (produce < size) & (level <= size))
    theorem.lemma(m, produce == _around(consume + level, size))


def _around(place: Value, size: int) -> Value:
    return Mux(place < size, place, place - size)
