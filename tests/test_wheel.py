"""A wheel of the tree works outside of it."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with the packages of the wheel."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed: the extra 'test' brings it")
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder, ROOT],
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    target = folder / "target"
    subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", "--no-compile", "--target", target, wheel], check=True
    )
    return target


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["info", "--preset", "tiny"], "tiny: 2 channels"),
        (["train", "--link", "functional", "--iterations", "2", "--batch", "16"], "the same to the last bit"),
        (["train", "--link", "model", "--iterations", "2", "--batch", "16"], "the same to the last bit"),
    ],
    ids=["info", "functional", "model"],
)
def test_a_command_in_another_folder(installed, tmp_path, arguments, output):
    site = next(path for path in sys.path if path.endswith("site-packages"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), site])}
    # -S: the tree, whose packages are installed as editable ones, is not on the path.
    command = [sys.executable, "-S", "-m", "flashtrain.cli.main", *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert output in done.stdout
    assert str(ROOT) not in done.stdout + done.stderr


def test_all_files_of_the_packages_are_in_it(installed):
    """C++ sources, data files and SystemVerilog, too."""
    expected = {path for portion in ("hw", "sim", "sw") for path in files_of(ROOT / portion)}
    assert {path.suffix for path in expected} >= {".py", ".cpp", ".h", ".sv", ".toml", ".json"}
    assert set(files_of(installed)) == expected


def files_of(folder: Path) -> Iterator[Path]:
    """Of the package in a folder; without what Python has compiled."""
    for path in (folder / "flashtrain").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            yield path.relative_to(folder)
