"""The block diagram in docs/block-diagram.md is that of the tree."""

from pathlib import Path

from flashtrain.rtl.export.diagram import BEGIN, PAGE, TREE, diagram, first_line

ROOT = Path(__file__).parents[2]


def test_is_up_to_date():
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    message = "the block diagram is stale: run `python -m flashtrain.rtl.export.diagram`"
    assert f"{BEGIN}\n{diagram(ROOT)}\n" in page, message


def test_each_module_has_a_line():
    nameless = [str(module) for module in (ROOT / TREE).rglob("*.py") if not first_line(module)]
    assert not nameless, f"without a docstring: {nameless}"


def test_has_every_module():
    listed = {line.split()[0] for line in diagram(ROOT).splitlines()}
    assert {module.name for module in (ROOT / TREE).rglob("*.py")} - listed == {"__init__.py"}
