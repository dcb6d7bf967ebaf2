"""Combinational processes that Icarus 11 runs, too.

Icarus 11 can wake `always_comb` processes of one another for ever (its issue 508). `always @*` has no such
fault, but does not run at time 0; so each process also reads a flag that changes then.

    `FLASHTRAIN_COMB begin ... end      // always_comb, but for Icarus
"""

import re

MACRO = "FLASHTRAIN_COMB"

_DEFINITION = f"""\
`ifndef {MACRO}
`ifdef __ICARUS__
`define {MACRO} always @* if (time_zero | 1'b1)
`else
`define {MACRO} always_comb
`endif
`endif
"""
_FLAG = """\
`ifdef __ICARUS__
  reg time_zero = 1'b1;
  initial time_zero <= 1'b0;
`endif
"""

_HEAD = re.compile(r"\A(?:(?://|/\*).*\n)*")
_PROCESS = re.compile(r"^  always_comb\b", re.MULTILINE)
_MODULE = re.compile(r"^module\b[^;]*;\n", re.MULTILINE)


def portable_processes(text: str) -> str:
    """The exported text with the macro in place of `always_comb`."""
    if not _PROCESS.search(text):
        return text
    pieces = re.split(r"(?<=^endmodule\n)", text, flags=re.MULTILINE)
    text = "".join(map(_portable_module, pieces))
    return _HEAD.sub(lambda head: f"{head[0]}\n{_DEFINITION}", text, count=1)


def _portable_module(text: str) -> str:
    text, processes = _PROCESS.subn(f"  `{MACRO}", text)
    return _MODULE.sub(lambda header: header[0] + _FLAG, text) if processes else text
