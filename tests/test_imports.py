"""Imports run one way.

spec <- rtl;  spec <- numerics <- host <- training <- perf;  all of these <- sim <- attack <- cli.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PORTIONS = [ROOT / portion / "flashtrain" for portion in ("hw", "sim", "sw")]

ALLOWED = {
    "spec": set(),
    "rtl": {"spec"},
    "numerics": {"spec"},
    "host": {"spec", "numerics"},
    "training": {"spec", "numerics", "host"},
    "perf": {"spec", "numerics", "host", "training"},
    "sim": {"spec", "rtl", "numerics", "host", "training", "perf"},
    "attack": {"spec", "numerics", "host", "training", "sim"},
    "cli": {"spec", "rtl", "numerics", "host", "training", "perf", "sim", "attack"},
}
"""What each package may import, beside itself."""

MODULES = sorted(path for portion in PORTIONS for path in portion.rglob("*.py"))


def imported_packages(source: str, module: str) -> Iterator[tuple[int, str]]:
    """Each (line, package) where `source`, the text of `module`, imports from `flashtrain.<package>`.

    Imports inside functions count, and so do relative ones.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[: -node.level]
                base = ".".join([*parents, base] if base else parents)
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "flashtrain":
                yield node.lineno, parts[1] if len(parts) > 1 else ""


def module_name(path: Path) -> str:
    """Dotted name; a package's ends in `__init__`, so that relative imports count from one depth."""
    portion = next(portion for portion in PORTIONS if path.is_relative_to(portion))
    return ".".join(path.relative_to(portion.parent).with_suffix("").parts)


def test_every_module_belongs_to_a_package():
    assert MODULES
    for path in MODULES:
        assert len(module_name(path).split(".")) > 2, (
            f"{path}: `flashtrain` is a namespace, nothing lies in it directly"
        )


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_import_rule(path):
    module = module_name(path)
    package = module.split(".")[1]
    assert package in ALLOWED, f"flashtrain.{package} has no place in the import rule"
    for line, imported in imported_packages(path.read_text(), module):
        assert imported == package or imported in ALLOWED[package], (
            f"{path}:{line}: flashtrain.{package} may not import flashtrain.{imported}"
        )


@pytest.mark.parametrize(
    ("statement", "package"),
    [
        ("import flashtrain.rtl.export", "rtl"),
        ("from flashtrain.rtl import export", "rtl"),
        ("from flashtrain import rtl", "rtl"),
        ("def late():\n    from flashtrain.rtl.export import lint", "rtl"),
        ("from ..rtl import export", "rtl"),
        ("from . import driver", "host"),
        ("from .driver import Driver", "host"),
    ],
)
def test_every_form_of_import_is_seen(statement, package):
    assert [found for _, found in imported_packages(statement, "flashtrain.host.link")] == [package]
