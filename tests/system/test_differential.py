"""Every Link against the functional model: the same random commands, every answer and byte compared."""

from flashtrain.host import FunctionalLink
from flashtrain.host.conformance import compare_links
from flashtrain.spec.streams import UPDATE_NODE

COMMANDS = 400


def test_random_commands(link, seed):
    with FunctionalLink(link.config, len(link.memory)) as model:
        statuses = compare_links(link.config, seed, COMMANDS, model, link)
    print(statuses)
    assert sum(statuses.values()) == COMMANDS
    # The sequence is worth something only if much of it succeeds, and much does not.
    assert statuses["SUCCESS"] > COMMANDS / 10 and len(statuses) > 8


def test_random_commands_while_recovering(link, seed):
    with FunctionalLink(link.config, len(link.memory)) as model:
        statuses = compare_links(link.config, seed, COMMANDS, model, link, recovering=True)
    print(statuses)
    assert statuses["SUCCESS"] > COMMANDS / 10 and statuses["NAMESPACE_NOT_READY"] > COMMANDS / 20


def test_random_updates(link, seed):
    with FunctionalLink(link.config, len(link.memory)) as model:
        statuses = compare_links(link.config, seed, 2 * COMMANDS, model, link, UPDATE_NODE)
    print(statuses)
    assert sum(statuses.values()) == 2 * COMMANDS
    assert statuses["SUCCESS"] > COMMANDS / 5
    assert {"NAMESPACE_NOT_READY", "NAMESPACE_WRITE_PROTECTED"} & set(statuses)
