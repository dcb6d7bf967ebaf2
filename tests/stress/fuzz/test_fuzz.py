"""The devices as they are: no answer that the contract does not allow.

`flashtrain fuzz` does the same for as long as one likes, and shows how far it is.
"""

import pytest

from flashtrain.host import FunctionalLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import Opcode

COMMANDS, RTL_COMMANDS = 6000, 400


def test_functional(attack):
    tally = attack(COMMANDS)
    assert tally.commands >= COMMANDS and tally.undecided == 0
    # It is worth something only if much succeeds, and much does not.
    assert tally.statuses["SUCCESS"] > COMMANDS / 4 and len(tally.statuses) > 15
    assert len(set(tally.opcodes) & {opcode.name for opcode in Opcode}) >= len(Opcode) - 1


def test_rtl_beside_the_functional_model(attack):
    tally = attack(RTL_COMMANDS, {"rtl": RtlLink, "functional": FunctionalLink})
    assert tally.commands >= RTL_COMMANDS and tally.longest_batch > 0


@pytest.mark.long
def test_many(attack, request):
    commands = request.config.getoption("--long")
    assert attack(commands).commands >= commands


@pytest.mark.long
def test_many_on_rtl(attack, request):
    commands = max(1, request.config.getoption("--long") // 20)
    assert attack(commands, {"rtl": RtlLink, "functional": FunctionalLink}).commands >= commands
