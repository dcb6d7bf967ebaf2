"""The site of `make docs` is built without a warning: pages, links between them, docstrings, --help."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("index.html", "tutorial.html", "reference/contract.html", "reference/python.html", "design.html")


def build(source: Path, output: Path, *more: str) -> subprocess.CompletedProcess[str]:
    options = ["--fail-on-warning", "--keep-going", "--quiet", "-d", str(output / "doctrees"), *more]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(source), str(output / "site")],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.early
def test_site(tmp_path):
    """In the plainest theme: that of the site draws the navigation anew on each page, a third of the time."""
    done = build(ROOT / "docs", tmp_path, "-D", "html_theme=basic")
    assert done.returncode == 0, done.stdout + done.stderr
    assert all((tmp_path / "site" / page).exists() for page in PAGES)
    commands = (tmp_path / "site" / "reference" / "commands.html").read_text(encoding="utf-8")
    assert {"flashtrain train", "flashtrain sequence replay"} <= {*re.findall(r"<h2>([^<]+)<", commands)}
    python = (tmp_path / "site" / "reference" / "python.html").read_text(encoding="utf-8")
    assert (
        'id="flashtrain.host.Device.stream"' in python
        or 'id="flashtrain.host.device.Device.stream"' in python
    )


def test_a_dead_link_is_an_error(tmp_path):
    (tmp_path / "conf.py").write_text(
        'extensions = ["myst_parser"]\nmyst_heading_anchors = 4\nhtml_theme = "furo"\n', encoding="utf-8"
    )
    (tmp_path / "index.md").write_text(
        "# A page\n\n[gone](gone.md), [no heading](index.md#none)\n", encoding="utf-8"
    )
    done = build(tmp_path, tmp_path)
    assert done.returncode != 0
    assert "'gone.md'" in done.stderr and "'none'" in done.stderr


@pytest.mark.parametrize("page", ["README.md"])
def test_links_of_a_page_outside(page):
    """Files and headings that the page names."""
    for target, _, heading in re.findall(
        r"\]\((?!https?:)([^)#]*)(#([^)]*))?\)", (ROOT / page).read_text(encoding="utf-8")
    ):
        path = ROOT / (target or page)
        assert path.exists(), target
        headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE) if heading else []
        slugs = {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}
        assert not heading or heading in slugs, f"{target}#{heading}"


LISTS = {"block-diagram.md"}
"""Pages that are generated, or compared line by line with the tree."""


def test_pages_are_read_at_a_sitting():
    pages = {page.name: page.stat().st_size for page in (ROOT / "docs").glob("*.md")}
    assert not {name: size for name, size in pages.items() if size > 25_000 and name not in LISTS}
    assert (ROOT / "README.md").stat().st_size <= 5_000


def test_the_tree_has_every_package():
    packages = {
        f"{part}/flashtrain/{path.parent.name}"
        for part in ("hw", "sim", "sw")
        for path in (ROOT / part / "flashtrain").glob("*/*.py")
    }
    page = (ROOT / "docs" / "tree.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w/]+)` \|", page, re.MULTILINE)) == packages


def test_tutorial_has_the_example():
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (output,) = re.findall(r"```\n\n?It prints\n\n```\n(.*?)```", page, re.DOTALL)
    assert (ROOT / "examples" / "append_and_read.py").read_text(encoding="utf-8").endswith(code)
    assert output == (ROOT / "examples" / "append_and_read.txt").read_text(encoding="utf-8")
