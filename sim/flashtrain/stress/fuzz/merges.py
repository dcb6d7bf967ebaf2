"""Which merge of the orders of both ports explains what a device has answered?

The contract orders the commands of a port and leaves the order between ports to the device. The answers to
commands of both ports on one stream are therefore right if, and only if, some merge of both sequences gives
them. The search tries the merges and executes each command on the oracle. It leaves a branch at the first
answer that differs.
"""

from collections.abc import Callable, Sequence

from flashtrain.spec import Port

from .command import FuzzCommand
from .oracle import Answer, DeviceState, Oracle

Explained = list[tuple[int, Answer]]
"""Commands by number, in the order that explains all, each with its answer."""

MOST_STEPS = 200_000


class Undecided(Exception):
    """The search reached its limit without a verdict."""


def explanation(
    oracle: Oracle,
    before: DeviceState,
    commands: Sequence[FuzzCommand],
    tail: int,
    answer: Callable[[int], Answer],
    agrees: Callable[[int, Answer], bool],
) -> Explained | None:
    """An order that explains all; None if there is none. Commands from `tail` on come last, as they are.

    answer(number): what the oracle, in its state, says to a command; agrees: is it what the device did? The
    oracle is left in the state after the last command.
    """
    queues = [[n for n, c in enumerate(commands[:tail]) if c.port is port] for port in Port]
    rest = list(range(tail, len(commands)))
    dead: set[tuple[int, ...]] = set()
    steps = 0

    def search(state: DeviceState, done: tuple[int, ...], order: Explained) -> Explained | None:
        nonlocal steps
        heads = [(i, queue[done[i]]) for i, queue in enumerate(queues) if done[i] < len(queue)]
        if not heads:
            return finish(state, order)
        key = (*done, _digest(state))
        if key in dead:
            return None
        for i, number in heads:
            steps += 1
            if steps > MOST_STEPS:
                raise Undecided
            oracle.state = state.copy()
            found = answer(number)
            if not agrees(number, found):
                continue
            further = tuple(count + (i == j) for j, count in enumerate(done))
            if (whole := search(oracle.state, further, [*order, (number, found)])) is not None:
                return whole
        dead.add(key)
        return None

    def finish(state: DeviceState, order: Explained) -> Explained | None:
        oracle.state = state.copy()
        last: Explained = []
        for number in rest:
            found = answer(number)
            if not agrees(number, found):
                return None
            last.append((number, found))
        return order + last

    return search(before, tuple(0 for _ in queues), [])


def _digest(state: DeviceState) -> int:
    streams = tuple(
        (nsid, stream.uncommitted, stream.generation, tuple((z.state, tuple(z.pages)) for z in stream.zones))
        for nsid, stream in state.streams.items()
    )
    return hash(streams)
