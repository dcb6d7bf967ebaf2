"""The mandatory parts of the standards: each is there, and the page of them is that of the target."""

import pytest

from .answers import EXCEPTIONS, Answer
from .page import PAGE, page, target_answers
from .rules import NOT_ZERO, RESERVED
from .standard import Kind, Part, Row, Table


@pytest.fixture(scope="module")
def found() -> list[Answer]:
    return target_answers()


def test_each_part_is_as_the_standard_demands(found):
    """Exceptions are those of their table, and no others; one that is kept is none."""
    wrong = {(one.table.kind, one.table.part, one.row.name) for one in found if not one.good}
    assert wrong == set(EXCEPTIONS)


def test_the_page_is_up_to_date(found):
    committed = PAGE.read_text(encoding="utf-8")
    assert committed == page(found), "the page is stale: run `python -m tests.nvme.mandatory.page`"
    assert len(found) > 150


@pytest.mark.parametrize(
    "rule, prohibited, data, good",
    [(NOT_ZERO, False, bytes(2), False), (NOT_ZERO, False, None, False), (NOT_ZERO, False, b"\1\0", True),
     (RESERVED, False, b"\1", False), (NOT_ZERO, True, None, True), (NOT_ZERO, True, b"\1", False)],
)  # fmt: skip
def test_a_missing_part_is_found(rule, prohibited, data, good):
    table = Table(Kind.IO, Part.CONTROLLER, "", (), prohibited)
    assert Answer(table, Row("VER", 80, 83, rule), data).good == good
