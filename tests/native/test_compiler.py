"""Which compiler is taken."""

import re
import shutil

import pytest

from flashtrain.native.compiler import c_compiler, cxx_compiler
from flashtrain.spec.errors import ToolError


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A PATH with two compilers of each language."""
    for name in ("clang", "clang++", "gcc", "g++"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in ("CC", "CXX"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def test_the_fastest_on_path(programs):
    assert (c_compiler(), cxx_compiler()) == (str(programs / "clang"), str(programs / "clang++"))
    (programs / "clang++").unlink()
    assert cxx_compiler() == str(programs / "g++")


def test_the_one_that_is_named(programs, monkeypatch):
    monkeypatch.setenv("CC", "gcc")
    monkeypatch.setenv("CXX", str(programs / "g++"))
    assert (c_compiler(), cxx_compiler()) == (str(programs / "gcc"), str(programs / "g++"))


@pytest.mark.parametrize("named", ["g++-99", "ccache g++", "g++ -m32"])
def test_a_name_of_none(programs, monkeypatch, named):
    monkeypatch.setenv("CXX", named)
    with pytest.raises(ToolError, match=rf"^CXX is '{re.escape(named)}', which is no program: expected .*"):
        cxx_compiler()


def test_none_is_installed(programs):
    shutil.rmtree(programs)
    with pytest.raises(ToolError, match=r"^no C\+\+ compiler is installed: 'apt-get install g\+\+' "):
        cxx_compiler()
    with pytest.raises(ToolError, match=r"^no C compiler is installed: 'apt-get install gcc' "):
        c_compiler()
