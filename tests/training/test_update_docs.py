"""docs/on-die-update.md: its example runs, its exceptions exist."""

import re
from pathlib import Path

from flashtrain import host, numerics
from flashtrain.host.queues import command_errors
from flashtrain.training import errors

PAGE = (Path(__file__).parents[2] / "docs" / "on-die-update.md").read_text(encoding="utf-8")


def test_example(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, {})
    assert re.fullmatch(r"3 \d+\.\d+ \(100, 30\)\n", capsys.readouterr().out)


def test_exceptions():
    table = PAGE.partition("## Errors")[2]
    names = [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in row.split(", ")]
    assert len(names) > 8
    for name in names:
        modules = (host, numerics, command_errors, errors)
        assert any(hasattr(module, name.strip("`")) for module in modules), name
