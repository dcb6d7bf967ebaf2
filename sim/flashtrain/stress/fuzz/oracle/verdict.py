"""A command is refused by the first rule that it breaks."""

from flashtrain.spec import Status


class Refused(Exception):
    """By which rule, and with which status."""

    def __init__(self, status: Status, rule: str) -> None:
        super().__init__(status, rule)
        self.status = status
        self.rule = rule


def demand(fulfilled: bool, status: Status, rule: str) -> None:
    """The command is refused unless the rule is fulfilled."""
    if not fulfilled:
        raise Refused(status, rule)
