"""The C++ compiler, and Verilator's own library, which is compiled once for all that is verilated."""

import json
import shutil
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path

from flashtrain.native.build_cache import content_key, files_key, read_sources, write_sources
from flashtrain.native.compiler import compiler_version, cxx_compiler, progress, run
from flashtrain.native.user_cache import user_cache
from flashtrain.rtl.export.tools import tool_versions, verilator_environment, verilator_root

CXX_OPTIONS = ("-fPIC", "-std=gnu++17")
COROUTINES = "-std=gnu++20"
"""The option for models with delays."""

_INSTANCES = (
    "std::_Rb_tree<VlProcess*, VlProcess*, std::_Identity<VlProcess*>, std::less<VlProcess*>>",
    "std::vector<VlDeletable*>",
    *(f"std::deque<{word}>" for word in ("CData", "SData", "IData", "QData")),
    *(f"std::basic_string<{character}>" for character in ("char16_t", "char32_t")),
)
"""Templates that inline functions of Verilator's header and of GCC's library use.

A precompiled header has them pending: each file that includes it would make them anew. This and Bessel's
functions, which are as many, are half of the time to compile a small model.
"""


def _instances(keyword: str) -> str:
    text = "".join(f"{keyword} class {name};\n" for name in _INSTANCES)
    return f"#ifdef __GLIBCXX__\n{text}#endif\n"


_HEADER = f"""\
#include <cstddef>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#include "verilated.h"
{_instances("extern template")}\
// Verilator's cold functions run once, at the start: to optimise them is a fifth of the time to compile.
#if defined(__GNUC__) && !defined(__clang__)
#undef VL_ATTR_COLD
#define VL_ATTR_COLD __attribute__((cold, optimize("O0")))
#endif
"""

HEADER_KEY = content_key(_HEADER)
"""For the keys of all that includes this header first."""


class WaveFormat(Enum):
    """A format of waves that models write."""

    VCD = "vcd"
    FST = "fst"

    @property
    def runtime(self) -> str:
        """The file of Verilator's own library that writes it."""
        return f"verilated_{self.value}_c"

    @property
    def libraries(self) -> tuple[str, ...]:
        """The linker's options for the libraries that it needs."""
        return ("-llz4", "-lz") if self is WaveFormat.FST else ()


def runtime_options(waves: WaveFormat | None, optimization: str = "-O3") -> tuple[str, ...]:
    """Options for everything that includes Verilator's headers. `waves`: models write them."""
    include = verilator_root() / "include"
    unused = ("COVERAGE", "SC", "TIMING", "TRACE_SAIF")
    return (
        optimization,
        *CXX_OPTIONS,
        *(f"-I{path}" for path in (include, include / "vltstd")),
        "-DVERILATOR=1",
        *(f"-DVM_{name}=0" for name in unused),
        f"-DVM_TRACE={int(waves is not None)}",
        *(f"-DVM_TRACE_{each.name}={int(waves is each)}" for each in WaveFormat),
    )


def runtime_object(name: str, waves: WaveFormat | None = None) -> Path:
    """The object file of `name`.cpp of Verilator's own library; compiled once.

    That of `verilated` has the templates that no model has. Of the library, only what writes waves works in
    each cycle. The rest takes half as long to compile at `-Og`, and is the same whether a model writes waves.
    """
    writes = waves is not None and name == waves.runtime
    options = runtime_options(waves, "-O3") if writes else runtime_options(None, "-Og")
    text = f"#include <{name}.cpp>\n" + (_instances("template") if name == "verilated" else "")

    def build(folder: Path) -> None:
        source = folder / f"{name}.cpp"
        source.write_text(text, encoding="utf-8")
        words = [cxx_compiler(), *options, "-c", source, "-o", folder / f"{name}.o"]
        with progress(f"compiling Verilator's {name}.cpp (done once, 1 to 30 s)"):
            run_verilator(words, folder / "build.log", name)

    return _build(name, (*options, text), f"Verilator's {name}.cpp", build) / f"{name}.o"


def timing_object() -> Path:
    """The object file that models with delays need; compiled once."""
    options = (*runtime_options(None), COROUTINES)
    name = "verilated_timing"

    def build(folder: Path) -> None:
        source = verilator_root() / "include" / f"{name}.cpp"
        words = [cxx_compiler(), *options, "-c", source, "-o", folder / f"{name}.o"]
        run_verilator(words, folder / "build.log", name)

    return _build(name, options, f"Verilator's {name}.cpp", build) / f"{name}.o"


def own_object(source: Path, headers: Sequence[Path], optimization: str) -> Path:
    """The object file of a source that includes these headers, and none of a model; compiled once."""
    files = read_sources((source, *headers))
    options = (optimization, *CXX_OPTIONS)

    def build(folder: Path) -> None:
        write_sources(files, folder / "src")
        words = [cxx_compiler(), *options, "-c", folder / "src" / source.name]
        run_verilator([*words, "-o", folder / f"{source.stem}.o"], folder / "build.log", source.stem)

    folder = _build(source.stem, (*options, files_key(files)), source.name, build)
    return folder / f"{source.stem}.o"


def precompiled_header(options: Sequence[str]) -> Path:
    """Verilator's header, which a compiler is to include first.

    To read that header takes longer than to compile most models. So it is compiled once with these options;
    a compiler with the same ones takes that, and with others reads the text.
    """
    name = "verilated_header"

    def build(folder: Path) -> None:
        # Clang compares the headers with those that it has read: they are to stay, whoever uses the result.
        for path in (verilator_root() / "include").glob("*.h"):
            shutil.copy(path, folder)
        header = folder / f"{name}.h"
        header.write_text(_HEADER, encoding="utf-8")
        compiled = header.with_name(f"{header.name}.gch")
        # For ccache: what is compiled is new with each time that it is.
        compiled.with_name(f"{compiled.name}.sum").write_text(folder.name, encoding="utf-8")
        words = [cxx_compiler(), *options, "-x", "c++-header", header, "-o", compiled]
        run_verilator(words, folder / "build.log", header.name)

    return _build(name, (*options, _HEADER), "Verilator's header, precompiled", build) / f"{name}.h"


def _build(name: str, options: Sequence[str], what: str, build: Callable[[Path], None]) -> Path:
    """The entry of the cache with a part of Verilator's library that is compiled with these options."""
    # Where Verilator is installed makes no difference.
    flags = [option for option in options if not option.startswith("-I")]
    key = content_key(name, compiler_version(cxx_compiler()), json.dumps(tool_versions()), *flags)
    return user_cache().build("runtime", name, key, what, build)


def run_verilator(command: Sequence[object], log: Path, name: str, folder: Path | None = None) -> None:
    """`run` in the environment that Verilator needs."""
    run(command, log, name, verilator_environment(), folder)
