"""Moves the logic of a register's next state to its clock, for the sake of Verilator.

Exported text has the next state of a register in an `always_comb` of its own. Verilator keeps it as state,
and evaluates it after each edge and after each change of an input. Only the next edge needs it. Assignments
to the register itself need no state and are evaluated once. A register that holds its value costs a test.

Readers of a register stand before its writers where that is possible, and the reset is last. Verilator then
needs no copy.
"""

import re
from collections import Counter
from collections.abc import Iterator

_MODULE = re.compile(r"^module .*?^endmodule\n", re.MULTILINE | re.DOTALL)
_REGISTER = re.compile(
    r"^  always_ff @\(posedge clk\)\n    (?P<name>\S+) +<= (?P<next>\\\$\d+) ;\n", re.MULTILINE
)
_LOGIC = re.compile(r"^  always_comb begin\n(?P<body>.*?)^  end\n", re.MULTILINE | re.DOTALL)
_ASSIGNED = re.compile(r"^(?P<indent> *)(?P<name>\S+) (?P<part> *(?:\[[^]]*\])?) *= ", re.MULTILINE)
_RESET = re.compile(r"    if \(rst\) begin\n(?P<values>.*?)    end\n\Z", re.DOTALL)
_GENERATED = re.compile(r"\\\$\d+(?= )")
_WIRE = re.compile(r"^  assign (?P<name>\S+) +(?:\[[^]]*\] *)?= (?P<value>[^;]*);\n", re.MULTILINE)
_NAME = re.compile(r"\\\S+|\b[A-Za-z_]\w*")


def with_next_states_at_the_clock(text: str) -> str:
    """The same modules, with each next state that nothing else reads assigned to its register."""
    return _MODULE.sub(lambda module: _merged(module[0]), text)


def _merged(module: str) -> str:
    registers = {match["next"]: match["name"] for match in _REGISTER.finditer(module)}
    uses: dict[str, int] = {}
    for name in _GENERATED.findall(module):
        uses[name] = uses.get(name, 0) + 1
    merged: set[str] = set()
    plain: list[str] = []
    resets: list[str] = []
    running: dict[str, str] = {}

    def logic(match: re.Match[str]) -> str:
        body = match["body"]
        targets = [assigned["name"] for assigned in _ASSIGNED.finditer(body)]
        name = targets[0]
        # Elsewhere it is declared, and taken by the register; and its own logic does not read it.
        if name not in registers or set(targets) != {name} or uses[name] != len(targets) + 2:
            return match[0]
        merged.add(name)
        register = registers[name]
        body = _ASSIGNED.sub(lambda one: f"{one['indent']}{register} {one['part']} <= ", body)
        kept = re.escape(f"    {register}") + r" +<= +" + re.escape(register) + r" *;\n"
        body = re.sub(rf"\A{kept}", "", body)
        reset = _RESET.search(body)
        whole = re.escape(f"      {register}") + r" +<= [^;]*;\n"
        if reset is None or re.fullmatch(whole, reset["values"]) is None:
            plain.append(body)
        else:
            resets.append(reset["values"])
            running[register] = body[: reset.start()]
        return ""

    module = _LOGIC.sub(logic, module)
    module = _REGISTER.sub(lambda match: "" if match["next"] in merged else match[0], module)
    processes = "".join(f"  always_ff @(posedge clk) begin\n{body}  end\n" for body in plain)
    if resets:
        processes += "  always_ff @(posedge clk) begin\n" + "".join(_readers_first(running, module))
        processes += "    if (rst) begin\n" + "".join(resets) + "    end\n  end\n"
    return module.removesuffix("endmodule\n") + processes + "endmodule\n"


def _readers_first(logic: dict[str, str], module: str) -> Iterator[str]:
    """The logic of these registers, each before that of registers that it reads if there is such an order."""
    wires: dict[str, set[str]] = {}
    for match in _WIRE.finditer(module):
        wires.setdefault(match["name"], set()).update(_NAME.findall(match["value"]))
    reads: dict[str, set[str]] = {}
    for register, body in logic.items():
        pending, read = set(_NAME.findall(body)), set[str]()
        while pending:
            name = pending.pop()
            read.add(name)
            pending |= wires.get(name, set()) - read
        reads[register] = read & logic.keys() - {register}
    readers = Counter(name for read in reads.values() for name in read)
    while reads:
        first = min(reads, key=readers.__getitem__)
        readers.subtract(reads.pop(first))
        yield logic[first]
