"""`flashtrain area pcie`: the units of the function on PCI Express in an FPGA."""

import argparse
from functools import partial

from flashtrain.spec.pcie import MAX_ENTRIES, MAX_QUEUES

from .area_parts import Part, measure, resources
from .console import Console


def parts() -> list[Part]:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.pcie.function_registers import FunctionRegisters
    from flashtrain.rtl.pcie.prp_walker import PrpWalker
    from flashtrain.rtl.pcie.queue_engine import QueueEngine
    from flashtrain.rtl.pcie.tlp_port import TlpPort

    return [
        Part("pcie_registers", "registers and vectors", partial(FunctionRegisters, MAX_QUEUES, MAX_ENTRIES)),
        Part("pcie_queues", "queue engine", partial(QueueEngine, MAX_QUEUES)),
        Part("pcie_walker", "walker of PRPs", PrpWalker),
        Part("pcie_port", "port of TLPs", TlpPort),
    ]


def run(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.sim.synthesis.depth import LIMIT
    from flashtrain.sim.synthesis.tools import versions

    tools = versions(placing=options.clock)
    measured = measure(parts(), options.clock, console)
    console.say(f"{MAX_QUEUES} pairs of I/O queues beside the admin queues; commands of up to 1 MiB")
    console.say(resources(measured.values()))
    console.say(f"all of them: {sum(one.all_lut6 for one in measured.values()):,} LUT6")
    console.say("by " + ", ".join(tools.values()))
    console.document({"parts": {key: one.document() for key, one in measured.items()}, "tools": tools})
    return int(any(one.deepest.depth > LIMIT for one in measured.values()))
