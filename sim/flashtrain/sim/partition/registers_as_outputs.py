"""Calls registers by the names of the outputs that they drive, for the sake of Verilator.

Where an output is a wire from a register, Verilator has both in its state, and copies one to the other at
each edge.
"""

import re

_MODULE = re.compile(r"^module .*?^endmodule\n", re.MULTILINE | re.DOTALL)
_NAME = r"(?P<name>\\\S+|[A-Za-z_]\w*)"
_PORT = re.compile(rf"^  (?:input|output) (?:\[[^]]*\] )?{_NAME} ?;\n", re.MULTILINE)
_OUTPUT = re.compile(
    rf"^  output (?P<width>\[[^]]*\] )?{_NAME} ?;\n  wire (?P=width)?(?P=name) ?;\n", re.MULTILINE
)
_REGISTER = re.compile(rf"^  reg (?P<width>\[[^]]*\] )?{_NAME} ?(?P<value>= [^;]*)?;\n", re.MULTILINE)
_JOIN = re.compile(rf"^  assign {_NAME} +=+ (?P<to>\\\S+|[A-Za-z_]\w*) ?;\n", re.MULTILINE)
# But for the pins of an instance, which begin with a point.
_ANY = re.compile(r"(?<!\.)\\\S+ ?|(?<![.\\$'\w])[A-Za-z_]\w*")


def with_registers_as_outputs(text: str) -> str:
    """The same modules, with one name for a register and an output that is nothing else."""
    return _MODULE.sub(lambda module: _joined(module[0]), text)


def _joined(module: str) -> str:
    outputs = {match["name"]: match for match in _OUTPUT.finditer(module)}
    joins = {match["name"]: match for match in _JOIN.finditer(module)}
    ports = {match["name"] for match in _PORT.finditer(module)}
    registers = {match["name"]: match for match in _REGISTER.finditer(module) if match["name"] not in ports}
    names: dict[str, str] = {}  # of registers, and of wires between them and outputs
    for output in outputs.keys() & joins.keys():
        source = output
        while source in joins:
            source = joins[source]["to"]
        register = registers.get(source)
        if source in names or register is None or register["width"] != outputs[output]["width"]:
            continue
        if not re.search(rf"^ +{re.escape(source)} +<= ", module, re.MULTILINE):
            continue
        names[source] = output
        declared = f"  reg {register['width'] or ''}{output} {register['value'] or ''};\n"
        module = module.replace(register[0], "", 1).replace(joins[output][0], "", 1)
        module = module.replace(outputs[output][0], outputs[output][0].split("\n")[0] + "\n" + declared, 1)
    head, body = module.split(";\n", 1)
    return f"{head};\n{_ANY.sub(lambda match: _renamed(match[0], names), body)}"


def _renamed(text: str, names: dict[str, str]) -> str:
    return f"{names[text.strip()]} " if text.strip() in names else text
