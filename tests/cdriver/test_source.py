"""The text of the C driver: freestanding C11 for every compiler here, and types that ctypes agrees with."""

import ctypes
import re
import shutil
import subprocess

import pytest

from flashtrain.cdriver import driver_sources, write_driver
from flashtrain.native.build_cache import files_key
from flashtrain.native.compiler import c_compiler
from flashtrain.spec.streams import NODES, UPDATE_NODE

from .driver import Error, streams_of
from .library import FUNCTIONS, OPTIONS, OTHERS, TYPES, driver_library

EVEN_FREESTANDING = {"memcpy", "memmove", "memset", "memcmp"}
"""GCC and Clang may call these in any environment."""


@pytest.fixture(scope="module", params=["gcc", "clang"])
def objects(request, tmp_path_factory):
    """One object file of the whole driver, without any library."""
    compiler = shutil.which(request.param)
    if compiler is None:
        pytest.skip(f"no compiler is called {request.param}")
    folder = tmp_path_factory.mktemp(request.param)
    write_driver(folder)
    units = sorted(folder.glob("*.c"))
    joined = folder / "driver.o"
    subprocess.run([compiler, *OPTIONS, "-Os", "-nostdlib", "-r", *units, "-o", joined], check=True)
    return joined


def test_it_needs_no_library(objects):
    undefined = subprocess.run(["nm", "-u", objects], check=True, capture_output=True, text=True).stdout
    assert set(undefined.replace(" U ", " ").split()) <= EVEN_FREESTANDING


def test_only_names_with_its_prefix_are_global(objects):
    symbols = subprocess.run(["nm", "-g", objects], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in symbols.splitlines()} - EVEN_FREESTANDING
    assert len(names) > 40
    assert all(name.startswith("ft_") for name in names)


def test_the_header_is_good_alone(tmp_path):
    write_driver(tmp_path)
    (tmp_path / "unit.c").write_text(
        '#include "flashtrain_driver.h"\nextern struct ft_device device;\n', encoding="utf-8"
    )
    subprocess.run([c_compiler(), *OPTIONS, "-fsyntax-only", tmp_path / "unit.c"], check=True)


def test_no_function_is_recursive_or_allocates():
    text = "".join(driver_sources().values())
    assert "malloc" not in text
    calls = {}
    for match in re.finditer(r"^(?:static )?[\w ]+?[* ](\w+)\([^;{]*\) \{\n(.*?)^\}", text, re.M | re.S):
        calls[match[1]] = set(re.findall(r"\b(\w+)\(", match[2]))
    assert len(calls) > 100
    reached = {name: set(called) for name, called in calls.items()}
    for _ in range(20):
        for name, called in reached.items():
            called |= {further for one in set(called) for further in calls.get(one, ())}
            assert name not in called, f"{name} calls itself"


def test_types_have_the_sizes_of_the_compiler():
    library = driver_library()
    for number, kind in enumerate(TYPES):
        assert kind is None or ctypes.sizeof(kind) == library.shim_size(number), kind


def test_errors_have_numbers_and_texts():
    listed = re.search(r"enum ft_error \{(.*?)\}", driver_sources()["flashtrain_driver.h"], re.S)
    assert re.findall(r"FT_(?:ERR_)?(\w+)(?= =|,| */\*|\n)", listed[1]) == [error.name for error in Error]
    texts = {driver_library().ft_error_text(error) for error in Error}
    assert len(texts) == len(Error)
    assert driver_library().ft_error_text(99) == b"unknown error"


def test_every_function_of_the_interface_is_bound():
    declared = set(re.findall(r"^[^ #/*].*?\b(ft_\w+)\(", driver_sources()["flashtrain_driver.h"], re.M))
    assert declared - {"ft_pointer"} == {name for name in (*FUNCTIONS, *OTHERS) if name.startswith("ft_")}


def test_streams_of_the_header_are_those_of_python():
    count = ctypes.c_uint()
    streams = driver_library().shim_update_streams(ctypes.byref(count))
    assert count.value == len(UPDATE_NODE.streams)
    for ours, theirs in zip(streams[: count.value], streams_of(UPDATE_NODE), strict=True):
        assert bytes(ours) == bytes(theirs)
    assert all(
        f"FLASHTRAIN_NODE_{name.upper()}(STREAM)" in driver_sources()["flashtrain.h"] for name in NODES
    )


def test_files_are_written_by_the_module(tmp_path):
    import sys

    command = [sys.executable, "-m", "flashtrain.cdriver", tmp_path / "driver"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "driver").iterdir()}
    assert files_key(written) == files_key(driver_sources())
    assert len(said.splitlines()) == len(written)
