"""docs/optimizers.md: its listings are the programs, its example runs."""

import re
from pathlib import Path

import pytest

from flashtrain.spec.optimizer import PROGRAMS, OptimizerCode

PAGE = (Path(__file__).parents[3] / "docs" / "optimizers.md").read_text()
FAST = {OptimizerCode.ADAM_FAST: OptimizerCode.ADAM, OptimizerCode.ADAMW_FAST: OptimizerCode.ADAMW}


@pytest.mark.parametrize("code", [code for code in OptimizerCode if code not in FAST])
def test_listings(code):
    assert f"**{code.name}**" in PAGE
    after = PAGE.partition(f"**{code.name}**")[2]
    listing = re.search(r"```text\n(.*?)\n```", after, re.DOTALL)
    assert listing is not None and listing[1] == str(PROGRAMS[code])


@pytest.mark.parametrize("code", FAST)
def test_fast_programs_differ_in_one_operation(code):
    operation = "m = fma(MEAN_GAIN, change, g)"
    assert f"`{operation}`" in PAGE
    slow = str(PROGRAMS[FAST[code]])
    assert str(PROGRAMS[code]) == slow.replace("m = fma(MEAN_GAIN, change, M)", operation)


def test_example(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, {})
    # Two steps of the learning rate, and a little decay; a thousand squares of 1/2.
    assert capsys.readouterr().out.startswith("0.99")
