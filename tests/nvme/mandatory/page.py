"""Writes the page of the mandatory parts: `python -m tests.nvme.mandatory.page`, at the root of the tree."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from tests.nvme.helpers import served

from .answers import EXCEPTIONS, VALUES, Answer, answers

PAGE = Path("docs/reference/nvme.md")
SERIAL = "0123456789"

_BEGIN = """\
# Mandatory parts of NVMe

<!-- Written by `python -m tests.nvme.mandatory.page`. -->

Each part that the standards demand of a controller over TCP with zoned namespaces, and of a discovery
controller, with the answer of the [target](../nvme.md). The list is written from the standards. The answers
are those of a target that was asked over its protocol, with preset *small* and serial number 0123456789. A
test fails if a part is absent, has a value that the standard forbids, or differs from this page.

Figures and sections are those of NVM Express Base 2.1 unless another standard is named. Parts that came after
2.0, the version of the target, are no rows. Values are hexadecimal, and *served* is an answer without data.
"""


def page(found: Iterable[Answer]) -> str:
    """The text of the page."""
    return "\n".join([_BEGIN, *_lines(found)])


def _lines(found: Iterable[Answer]) -> Iterator[str]:
    for kind, of_kind in groupby(found, lambda answer: answer.table.kind):
        yield f"## {kind.value[0].upper()}{kind.value[1:]}\n"
        for table, rows in groupby(of_kind, lambda answer: answer.table):
            title = f"{table.part.value}{', prohibited' * table.prohibited}"
            yield f"### {title[0].upper()}{title[1:]}: {table.source}\n"
            yield "| code | name | demanded | answer |"
            yield "|---|---|---|---|"
            for answer in rows:
                row = answer.row
                demanded = row.rule.words if table.part in VALUES else "an answer"
                if table.prohibited:
                    demanded = "a refusal"
                reason = "" if answer.good else f"; {EXCEPTIONS[table.kind, table.part, row.name]}"
                yield f"| {row.code:02X}h | {row.name} | {demanded} | {answer.words}{reason} |"
            yield ""


def target_answers() -> list[Answer]:
    """The answers of a new target."""
    with served("small", serial=SERIAL) as target:
        return list(answers(target))


def main() -> None:
    PAGE.write_text(page(target_answers()), encoding="utf-8")


if __name__ == "__main__":
    main()
