"""Joins the processes of a memory's ports into one, for the sake of Verilator.

Exported text has a process for each port of a memory. Verilator then keeps address and data of each write
enable until all processes have run. One process reads first, then writes words at once. It also computes
addresses and data that nothing else reads, and only where a port is enabled. A word with all pieces enabled
is written whole.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

_MODULE = re.compile(r"^module .*?^endmodule\n", re.MULTILINE | re.DOTALL)
_MEMORY = re.compile(r"^  reg (?:\[(?P<last>\d+):0\] )?(?P<name>\S+) \[\d+:0\];\n", re.MULTILINE)
_PROCESS = re.compile(r"^  always_ff @\(posedge clk\) begin\n(?P<body>.*?)^  end\n", re.MULTILINE | re.DOTALL)
_INDEX = r"(?:[^][]|\[[^]]*\])+"
_ENABLE = r"(?P<enable>\\\S+|[A-Za-z_]\w*) ?(?:\[\d+\])?"
_READ = re.compile(
    rf"    if \({_ENABLE}\) begin\n      \S+ +<= (?P<memory>[^\s[]+) ?\[{_INDEX}\];\n    end\n"
)
_WRITE = re.compile(
    rf"    if \({_ENABLE}\)\n"
    rf"      (?P<word>(?P<memory>[^\s[]+) ?\[{_INDEX}\])(?: ?\[(?P<piece>[^]]*)\])? <= (?P<data>[^;]*);\n"
)
_PIECE = re.compile(r"(?P<name>\S+) ?\[(?P<piece>\d+:\d+)\]\Z")
_PLACE = "  // memories\n"
_NAME = re.compile(r"\\\S+|\b[A-Za-z_]\w*")
_PORT = re.compile(r"^  (?:input|output) (?:\[[^]]*\] )?(?P<name>\S+) ?;\n", re.MULTILINE)
_WIRE = re.compile(r"^  assign (?P<name>\S+) +(?P<part>\[[^]]*\] *)?= (?P<value>[^;]*);\n", re.MULTILINE)
_LOGIC = re.compile(r"^  always_comb begin\n(?P<body>.*?)^  end\n", re.MULTILINE | re.DOTALL)
_ASSIGNED = re.compile(r"^ *(?P<name>\S+) +(?:\[[^]]*\] *)?= ", re.MULTILINE)


def with_memories_in_place(text: str) -> str:
    """The same modules, with one process for all memories of which only registers see words."""
    return _MODULE.sub(lambda module: _merged(module[0]), text)


def _merged(module: str) -> str:
    uses = Counter(_NAME.findall(module))
    reads: dict[str, list[re.Match[str]]] = {}
    writes: dict[str, list[re.Match[str]]] = {}
    processes: dict[str, list[str]] = {}
    for process in _PROCESS.finditer(module):
        for pattern, found in ((_READ, reads), (_WRITE, writes)):
            ports = list(pattern.finditer(process["body"]))
            memories = {port["memory"] for port in ports}
            if "".join(port[0] for port in ports) == process["body"] and len(memories) == 1:
                (memory,) = memories
                found.setdefault(memory, []).extend(ports)
                processes.setdefault(memory, []).append(process[0])
    # The others are where they are declared, and twice where they are filled.
    here = [
        match["name"]
        for match in _MEMORY.finditer(module)
        if match["name"] in reads
        and match["name"] in writes
        and uses[match["name"]] == len(reads[match["name"]]) + len(writes[match["name"]]) + 2
    ]
    if not here:
        return module
    texts = [text for memory in here for text in processes[memory]]
    module = module.replace(min(texts, key=module.index), _PLACE, 1)
    for text in texts:
        module = module.replace(text, "", 1)
    logic = _Logic(module)
    read = [port for memory in here for port in reads[memory]]
    body = logic.only_for(read, "".join(port[0] for port in read))
    write = [port for memory in here for port in writes[memory]]
    widths = {match["name"]: int(match["last"] or 0) + 1 for match in _MEMORY.finditer(module)}
    ports = groupby(write, lambda port: (port["enable"], port["word"]))
    body += logic.only_for(write, "".join(_written(list(port), widths) for _key, port in ports))
    process = f"  always_ff @(posedge clk) begin\n{body}  end\n"
    return logic.rest.replace(_PLACE, process, 1)


def _written(port: list[re.Match[str]], widths: dict[str, int]) -> str:
    """The writes of one port, as blocking assignments."""
    text = "".join(piece[0].replace(" <= ", " = ", 1) for piece in port)
    data = [_PIECE.match(piece["data"]) for piece in port]
    names = {piece and piece["name"] for piece in data}
    whole = list(_pieces(len(port), widths[port[0]["memory"]]))
    if len(port) == 1 or [piece["piece"] for piece in port] != whole or len(names) != 1:
        return text
    if [piece and piece["piece"] for piece in data] != whole:
        return text
    (name,), enable = names, port[0]["enable"]
    return (
        f"    if (& {enable} )\n      {port[0]['word']} = {name} ;\n"
        f"    else if (| {enable} ) begin\n{text}    end\n"
    )


def _pieces(count: int, width: int) -> Iterator[str]:
    for first in range(0, width, width // count):
        yield f"{first + width // count - 1}:{first}"


class _Logic:
    """The logic of a module, of which some is moved to where it is needed; `rest` is what is left."""

    def __init__(self, module: str) -> None:
        self.rest = module
        self._kept = {port["name"] for port in _PORT.finditer(module)}
        self._drivers: dict[str, list[tuple[str, str]]] = {}
        for wire in _WIRE.finditer(module):
            text = f"      {wire['name']} {wire['part'] or ''}= {wire['value']};\n"
            self._drivers.setdefault(wire["name"], []).append((wire[0], text))
        for block in _LOGIC.finditer(module):
            targets = {assigned["name"] for assigned in _ASSIGNED.finditer(block["body"])}
            for target in targets:
                # What assigns to several is left alone.
                text = block["body"] if len(targets) == 1 else ""
                self._drivers.setdefault(target, []).append((block[0], text))

    def only_for(self, ports: list[re.Match[str]], text: str) -> str:
        """The text of these ports after the logic that nothing else reads, which leaves the rest."""
        enables = dict.fromkeys(port["enable"] for port in ports)
        taken, local = list[str](), list[str]()
        uses, here = Counter(_NAME.findall(self.rest)), Counter(_NAME.findall(text))
        kept = self._kept.union(enables)
        pending = list(here)
        while pending:
            name = pending.pop()
            if name in kept or len(self._drivers.get(name, ())) != 1:
                continue
            ((whole, moved),) = self._drivers[name]
            own = Counter(_NAME.findall(whole))
            declared = re.search(
                rf"^  (?:wire|reg) ((?:\[[^]]*\] )?{re.escape(name)} ?;\n)", self.rest, re.MULTILINE
            )
            # Declared once, driven once, and all that reads it is here.
            if not moved or uses[name] != own[name] + 1 or declared is None:
                continue
            self.rest = self.rest.replace(whole, "", 1).replace(declared[0], "", 1)
            local.append(f"      automatic logic {declared[1]}")
            taken.insert(0, moved)
            uses -= own
            kept.add(name)
            pending = [*pending, *own]
        self._kept |= set(_NAME.findall(text + "".join(taken)))
        condition = " | ".join(f"(| {enable} )" for enable in enables)
        return f"    if ({condition}) begin\n{''.join(local + taken)}{text}    end\n"
