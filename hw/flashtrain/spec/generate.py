"""Writes C header, reference page and tables of configurations: `python -m flashtrain.spec.generate`, at the
root of the tree."""

from pathlib import Path

from .configuration_page import page_with_tables
from .header import header
from .reference import reference

FOLDER = Path("docs/reference")
CONFIGURATION_PAGE = Path("docs/configuration.md")


def generated() -> dict[str, str]:
    """Text of each generated file by its name."""
    return {"flashtrain.h": header(), "contract.md": reference()}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in generated().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    CONFIGURATION_PAGE.write_text(
        page_with_tables(CONFIGURATION_PAGE.read_text(encoding="utf-8")), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
