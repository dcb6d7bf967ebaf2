"""The block diagram in docs/block-diagram.md: `python -m flashtrain.rtl.export.diagram` writes it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PAGE = Path("docs/block-diagram.md")
TREE = Path("hw/flashtrain/rtl")
BEGIN = "<!-- begin: python -m flashtrain.rtl.export.diagram -->"
END = "<!-- end -->"

ORDER = (
    *("controller", "front_end"),
    *("pcie", "host_if", "zones", "datapath", "codec", "crossing", "channel", "die"),
    *("ecc", "randomizer", "float", "update_lane", "board", "lib"),
)
"""Modules and folders at the top, in the order of the data; others follow."""

COLUMN = 34


def first_line(module: Path) -> str:
    """The first line of a module's docstring, as plain text."""
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].replace("`", "")


def folder_lines(folder: Path, depth: int) -> Iterator[str]:
    """A line for each module of a folder, the one with the folder's name first, and then its folders."""

    def line(name: str, module: Path, at: int) -> str:
        return f"{'  ' * at}{name}".ljust(COLUMN - 1) + f" {first_line(module)}"

    def order(path: Path) -> tuple[bool, int, str]:
        place = ORDER.index(path.stem) if path.stem in ORDER else len(ORDER)
        return path.stem != folder.name, place, path.name

    yield line(f"{folder.name}/", folder / "__init__.py", depth)
    for module in sorted(folder.glob("*.py"), key=order):
        if module.name != "__init__.py":
            yield line(module.name, module, depth + 1)
    for inner in sorted(folder.glob("*/__init__.py"), key=lambda path: order(path.parent)):
        yield from folder_lines(inner.parent, depth + 1)


def diagram(root: Path = Path()) -> str:
    """The text between the two marks."""
    return "\n".join(["```text", *folder_lines(root / TREE, 0), "```"])


def renewed(page: str, text: str) -> str:
    """The page with the text between its marks."""
    marks = re.compile(f"(?<={re.escape(BEGIN)}\n).*?(?=\n{re.escape(END)})", re.DOTALL)
    if not marks.search(page):
        raise ValueError(f"{PAGE} has no marks of the block diagram: {BEGIN} and {END}")
    return marks.sub(lambda _: text, page)


def main() -> None:
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), diagram()), encoding="utf-8")


if __name__ == "__main__":
    main()
