"""What explains the answers to commands of both ports on one stream, and what nothing explains."""

from itertools import pairwise

import numpy as np
import pytest

from flashtrain.host.queues.entries import raw_entry
from flashtrain.spec import Access, Opcode, Port, Submission, ZoneAction, preset
from flashtrain.stress.fuzz.command import FuzzCommand
from flashtrain.stress.fuzz.merges import explanation
from flashtrain.stress.fuzz.oracle import Oracle, StreamRights, Surroundings

TINY = preset("tiny")
PAGE = TINY.geometry.page_bytes
BOTH = Access.READ | Access.APPEND
SUCCESS, FULL = "SUCCESS", "ZONE_IS_FULL"


def entry(opcode: Opcode, cid: int, blocks: int = 0, **fields: int) -> int:
    if blocks:
        fields |= {"nlb": blocks - 1, "psdt": Submission.PSDT_SGL, "length": blocks * PAGE}
    return int.from_bytes(raw_entry(opcode=opcode, nsid=1, cid=cid, **fields), "little")


def explained(commands: list[FuzzCommand], answers: list[tuple[str, int]]) -> list[int] | None:
    """The order of commands that explains these statuses and results."""
    oracle = Oracle(Surroundings(TINY, {1: StreamRights(2, BOTH, BOTH, True)}, 1 << 18))
    memory = np.zeros(1 << 18, np.uint8)
    order = explanation(
        oracle, oracle.state, commands, len(commands),
        lambda number: oracle.answer(commands[number].entry, memory),
        lambda number, answer: (answer.status.name, answer.effect.result) == answers[number],
    )  # fmt: skip
    return None if order is None else [number for number, _ in order]


HOST_APPENDS = [FuzzCommand(Port.HOST, entry(Opcode.ZONE_APPEND, n, blocks=2), "test") for n in range(3)]
CORE_APPENDS = [FuzzCommand(Port.CORE, entry(Opcode.ZONE_APPEND, n, blocks=2), "test") for n in range(3)]
FINISH = FuzzCommand(Port.CORE, entry(Opcode.ZONE_MANAGEMENT_SEND, 9, action=ZoneAction.FINISH), "test")


def test_any_merge_is_right():
    commands = HOST_APPENDS + CORE_APPENDS
    results = [0, 6, 8, 2, 4, 10]
    assert explained(commands, [(SUCCESS, result) for result in results]) == [0, 3, 4, 1, 2, 5]


@pytest.mark.parametrize("results", [[0, 2, 4, 4, 6, 8], [2, 0, 4, 6, 8, 10], [0, 2, 4, 6, 8, 12]])
def test_what_no_merge_gives(results):
    """The same blocks twice; a port's appends out of order; a gap."""
    commands = HOST_APPENDS + CORE_APPENDS
    assert explained(commands, [(SUCCESS, result) for result in results]) is None


def test_a_command_of_the_other_port_between():
    commands = [*HOST_APPENDS, FINISH]
    after_one = [(SUCCESS, 0), (FULL, 0), (FULL, 0), (SUCCESS, 0)]
    order = explained(commands, after_one)
    assert order is not None and (0, 3) in list(pairwise(order))
    assert explained(commands, [(SUCCESS, 0), (FULL, 0), (SUCCESS, 2), (SUCCESS, 0)]) is None
