"""Imports run one way.

reading <- spec, and all that read files of others.
spec <- rtl;  spec <- native <- numerics <- host <- training <- perf <- platform;  host <- model
<- perf;  all of these <- sim <- stress <- cli.
host <- traces <- ssd <- perf;  host <- io <- nvme <- perf;  nvme <- stress;  nvme <- objects;
training <- checkpoint <- perf;  checkpoint, objects <- torch <- cli;  checkpoint <- inspection <- stress;
spec <- sweep <- cli;  native <- qemu <- linux;  qemu <- cli;  nvme <- drive <- cli.
spec <- cdriver;  nvme, native <- firmware <- cli.
spec <- writing, and all that write files.
The roots follow: hw <- sw <- sim.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOTS = ("hw", "sw", "sim")
PORTIONS = [ROOT / root / "flashtrain" for root in ROOTS]

ALLOWED = {
    "reading": set(),
    "spec": {"reading"},
    "writing": {"spec"},
    "rtl": {"reading", "spec"},
    "native": {"reading", "spec"},
    "numerics": {"spec", "native"},
    "host": {"reading", "spec", "numerics", "writing"},
    "cdriver": {"spec", "writing"},
    "firmware": {"spec", "native", "nvme", "writing"},
    "traces": {"reading", "spec", "host", "writing"},
    "io": {"reading", "spec", "host", "writing", "traces", "ssd"},
    "nvme": {"spec", "host"},
    "objects": {"reading", "spec", "host", "nvme"},
    "ssd": {"reading", "spec", "native", "traces"},
    "training": {"reading", "spec", "native", "numerics", "host", "writing"},
    "checkpoint": {"reading", "spec", "numerics", "host", "training", "writing"},
    "torch": {"spec", "numerics", "host", "nvme", "objects", "training", "checkpoint"},
    "model": {"reading", "spec", "native", "numerics", "host"},
    "perf": {
        "reading",
        "spec",
        "numerics",
        "host",
        "nvme",
        "model",
        "ssd",
        "training",
        "checkpoint",
        "writing",
    },
    "platform": {"spec", "numerics", "host", "model", "training", "perf", "ssd", "writing"},
    "figures": {
        "spec",
        "numerics",
        "host",
        "model",
        "training",
        "checkpoint",
        "perf",
        "ssd",
        "platform",
        "writing",
    },
    "inspection": {"spec", "numerics", "host", "training", "checkpoint", "writing"},
    "sweep": {"reading", "spec", "writing"},
    "sim": {"reading", "spec", "rtl", "native", "numerics", "host", "model", "training", "perf", "writing"},
    "stress": {"spec", "native", "numerics", "host", "nvme", "training", "checkpoint", "inspection", "sim"},
    "drive": {"spec", "rtl", "host", "nvme", "sim"},
    "qemu": {"spec", "native"},
    "linux": {"spec", "qemu"},
    "cli": {
        "reading",
        "spec",
        "rtl",
        "native",
        "numerics",
        "host",
        "model",
        "traces",
        "io",
        "nvme",
        "firmware",
        "ssd",
        "training",
        "checkpoint",
        "torch",
        "perf",
        "platform",
        "figures",
        "inspection",
        "sweep",
        "sim",
        "stress",
        "qemu",
        "drive",
        "writing",
    },
}
"""What each package may import, beside itself."""

MODULES = sorted(path for portion in PORTIONS for path in portion.rglob("*.py"))


@cache
def _imports(source: str, module: str) -> tuple[tuple[int, str], ...]:
    """Each (line, dotted name) that `source`, the text of `module`, imports; `a.b` for `from a import b`."""
    found: list[tuple[int, str]] = []
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
        found += [(node.lineno, name) for name in names]
    return tuple(found)


def imported_names(source: str, module: str) -> set[str]:
    """The dotted names that `source`, the text of `module`, imports anywhere."""
    return {name for _, name in _imports(source, module)}


def imported_packages(source: str, module: str) -> Iterator[tuple[int, str]]:
    """Each (line, package) where `source`, the text of `module`, imports from `flashtrain.<package>`.

    Imports inside functions count, and so do relative ones.
    """
    for line, name in _imports(source, module):
        parts = name.split(".")
        if parts[0] == "flashtrain":
            yield line, parts[1] if len(parts) > 1 else ""


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


@pytest.mark.parametrize("package", sorted({module_name(path).split(".")[1] for path in MODULES}))
def test_import_rule(package):
    assert package in ALLOWED, f"flashtrain.{package} has no place in the import rule"
    for path in MODULES:
        module = module_name(path)
        if module.split(".")[1] != package:
            continue
        for line, imported in imported_packages(path.read_text(encoding="utf-8"), module):
            assert imported == package or imported in ALLOWED[package], (
                f"{path}:{line}: flashtrain.{package} may not import flashtrain.{imported}"
            )


def test_pytorch_is_imported_by_its_client_alone():
    users = {
        module_name(path).split(".")[1]
        for path in MODULES
        for name in imported_names(path.read_text(encoding="utf-8"), module_name(path))
        if name.split(".")[0] in ("torch", "torchvision", "transformers")
    }
    assert users == {"torch"}


def test_roots_import_one_way():
    """No package is allowed to import one of a later root."""
    root_of = {
        folder.name: ROOTS.index(root)
        for root in ROOTS
        for folder in (ROOT / root / "flashtrain").iterdir()
        if folder.is_dir() and folder.name != "__pycache__"
    }
    assert set(root_of) == set(ALLOWED)
    for package, imports in ALLOWED.items():
        for imported in imports:
            assert root_of[imported] <= root_of[package], f"{package} lies below {imported}"


def imported_modules(source: str, module: str, known: set[str]) -> set[str]:
    """The modules among `known` that `source`, the text of `module`, imports anywhere.

    Imports for type checkers and inside functions count. A package is named by its `__init__`.
    """
    found = set()
    for name in imported_names(source, module):
        while name:
            if match := {name, f"{name}.__init__"} & known:
                found |= match - {module}
                break
            name = name.rpartition(".")[0]
    return found


def cycle_in(imports: dict[str, set[str]]) -> list[str]:
    """Modules of which each imports the next one, and the last the first; empty without a cycle."""
    finished: set[str] = set()

    def search(module: str, path: list[str]) -> list[str]:
        if module in path:
            return path[path.index(module) :]
        if module in finished:
            return []
        for imported in sorted(imports[module]):
            if cycle := search(imported, [*path, module]):
                return cycle
        finished.add(module)
        return []

    return next((cycle for module in sorted(imports) if (cycle := search(module, []))), [])


def test_no_modules_import_each_other():
    known = {module_name(path) for path in MODULES}
    imports = {
        module_name(path): imported_modules(path.read_text(encoding="utf-8"), module_name(path), known)
        for path in MODULES
    }
    assert sum(map(len, imports.values())) > len(MODULES)
    assert cycle_in(imports) == []


def test_a_cycle_is_found():
    source = "if TYPE_CHECKING:\n    from .stream import DeviceStream"
    known = {"flashtrain.host.stream", "flashtrain.host.journal", "flashtrain.host.__init__"}
    imports = {module: set() for module in known}
    imports["flashtrain.host.journal"] = imported_modules(source, "flashtrain.host.journal", known)
    assert cycle_in(imports) == []
    imports["flashtrain.host.stream"] = imported_modules(
        "def late():\n    from flashtrain.host import journal", "flashtrain.host.stream", known
    )
    assert sorted(cycle_in(imports)) == ["flashtrain.host.journal", "flashtrain.host.stream"]


@pytest.mark.parametrize(
    ("statement", "package"),
    [
        ("import flashtrain.rtl.export.systemverilog", "rtl"),
        ("from flashtrain.rtl import export", "rtl"),
        ("from flashtrain import rtl", "rtl"),
        ("def late():\n    from flashtrain.rtl.export.systemverilog import lint", "rtl"),
        ("from ..rtl import export", "rtl"),
        ("from . import driver", "host"),
        ("from .driver import Driver", "host"),
    ],
)
def test_every_form_of_import_is_seen(statement, package):
    assert [found for _, found in imported_packages(statement, "flashtrain.host.link")] == [package]
