"""Writes C header and reference page: `python -m flashtrain.spec.generate`, at the root of the tree."""

from pathlib import Path

from .header import header
from .reference import reference

FOLDER = Path("docs/reference")


def generated() -> dict[str, str]:
    """Text of each generated file by its name."""
    return {"flashtrain.h": header(), "contract.md": reference()}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in generated().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
