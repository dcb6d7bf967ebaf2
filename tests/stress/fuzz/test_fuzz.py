"""The devices as they are: no answer that the contract does not allow.

`flashtrain fuzz` does the same for as long as one likes, and shows how far it is.
"""

import pytest

from flashtrain.host import FunctionalLink
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import Opcode, Status

COMMANDS, CODED_COMMANDS, RTL_COMMANDS = 6000, 3000, 400
LINKS = {"rtl": RtlLink, "model": ModelLink, "functional": FunctionalLink}
OF_CODECS = (Status.STREAM_IS_CODED, Status.CODED_PAGE_ERROR)


def test_functional(attack):
    tally = attack(COMMANDS)
    assert tally.commands >= COMMANDS and tally.undecided == 0
    # It is worth something only if much succeeds, and much does not.
    assert tally.statuses["SUCCESS"] > COMMANDS / 4 and len(tally.statuses) > 15
    assert len(set(tally.opcodes) & {opcode.name for opcode in Opcode}) >= len(Opcode) - 1


def test_functional_with_codecs(attack):
    tally = attack(CODED_COMMANDS, name="tiny_codec")
    assert tally.commands >= CODED_COMMANDS and tally.undecided == 0
    assert min(tally.statuses[status.name] for status in OF_CODECS) > 10


@pytest.mark.parametrize("name", ["tiny", "tiny_full"])
def test_rtl_beside_the_models(attack, name):
    tally = attack(RTL_COMMANDS, LINKS, name=name)
    assert tally.commands >= RTL_COMMANDS and tally.longest_batch > 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["tiny", "tiny_codec"])
def test_many(attack, request, name):
    commands = request.config.getoption("--long")
    assert attack(commands, name=name).commands >= commands


@pytest.mark.long
@pytest.mark.parametrize("name", ["tiny", "tiny_codec"])
def test_many_on_rtl(attack, request, name):
    commands = max(1, request.config.getoption("--long") // 20)
    assert attack(commands, LINKS, name=name).commands >= commands
