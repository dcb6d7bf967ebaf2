"""The text of the firmware: freestanding C99 for every compiler here, and what its module writes."""

import re
import shutil
import subprocess
import sys

import pytest

from flashtrain.firmware.binding import OPTIONS
from flashtrain.firmware.sources import firmware_sources
from tests.cdriver.test_source import EVEN_FREESTANDING


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("firmware")
    command = [sys.executable, "-m", "flashtrain.firmware", folder, "--preset", "tiny"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert {line.rpartition("/")[2] for line in said.splitlines()} == {
        *firmware_sources(), "firmware_tables.c"
    }  # fmt: skip
    return folder


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_it_needs_no_library(written, compiler):
    path = shutil.which(compiler)
    if path is None:
        pytest.skip(f"no compiler is called {compiler}")
    joined = written / f"{compiler}.o"
    subprocess.run([path, *OPTIONS, "-Os", "-nostdlib", "-r", *written.glob("*.c"), "-o", joined], check=True)
    symbols = subprocess.run(["nm", joined], check=True, capture_output=True, text=True).stdout.splitlines()
    undefined = {line.split()[-1] for line in symbols if " U " in line}
    defined = {line.split()[-1] for line in symbols if re.search(r" [A-TV-Z] ", line)}
    assert undefined <= EVEN_FREESTANDING
    assert len(defined) > 20 and all(name.startswith("ft_") for name in defined)


def test_no_function_is_recursive_or_allocates():
    text = "".join(text for name, text in firmware_sources().items() if name.endswith(".c"))
    assert "malloc" not in text
    calls = {}
    for match in re.finditer(r"^(?:static )?[\w ]+?[* ](\w+)\([^;{]*\) \{\n(.*?)^\}", text, re.M | re.S):
        calls[match[1]] = set(re.findall(r"(?<![.>\w])(\w+)\(", match[2]))
    assert len(calls) > 50
    reached = {name: set(called) for name, called in calls.items()}
    for _ in range(20):
        for name, called in reached.items():
            called |= {further for one in set(called) for further in calls.get(one, ())}
            assert name not in called, f"{name} calls itself"
