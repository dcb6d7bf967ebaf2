"""`flashtrain area pcie`: the function on PCI Express and its units in an FPGA."""

import argparse
from functools import partial

from flashtrain.spec import preset
from flashtrain.spec.pcie import MAX_ENTRIES, MAX_QUEUES, TlpSizes

from .area_parts import Part, measure, resources
from .console import Console

WHOLE = "pcie_function"

COMMERCIAL_LUT6 = 50_000
"""About, of a commercial NVMe core, that of a host, with data paths and without a processor.

MLE NVMe Streamer on UltraScale+, by missinglinkelectronics.com.
"""


def parts() -> list[Part]:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.pcie.admin_mailbox import AdminMailbox
    from flashtrain.rtl.pcie.command_translator import CommandTranslator
    from flashtrain.rtl.pcie.data_mover import DataMover
    from flashtrain.rtl.pcie.device_queue import DeviceQueue
    from flashtrain.rtl.pcie.device_registers import DeviceRegisters
    from flashtrain.rtl.pcie.function import UNIT_CYCLES, Function
    from flashtrain.rtl.pcie.function_registers import FunctionRegisters
    from flashtrain.rtl.pcie.interrupt_coalescer import InterruptCoalescer
    from flashtrain.rtl.pcie.io_buffer import IoBuffer
    from flashtrain.rtl.pcie.namespace_table import NamespaceTable
    from flashtrain.rtl.pcie.pointer_walker import PointerWalker
    from flashtrain.rtl.pcie.queue_engine import QueueEngine
    from flashtrain.rtl.pcie.tlp_port import TlpPort
    from flashtrain.sim.link.pcie_model import PcieSizes

    behemoth = preset("behemoth")
    sizes = PcieSizes.of(behemoth, MAX_QUEUES, MAX_ENTRIES)
    places = {"slots": sizes.slots, "most_bytes": sizes.most_bytes}
    return [
        Part(WHOLE, "the whole function", partial(Function, MAX_QUEUES, MAX_ENTRIES)),
        *(
            Part(key, title, build, seeds=0)
            for key, title, build in (
                (
                    "pcie_registers", "registers and vectors",
                    partial(FunctionRegisters, MAX_QUEUES, MAX_ENTRIES),
                ),
                ("pcie_queues", "queue engine", partial(QueueEngine, MAX_QUEUES)),
                (
                    "pcie_coalescer", "coalescer of interrupts",
                    partial(InterruptCoalescer, MAX_QUEUES + 1, UNIT_CYCLES),
                ),
                ("pcie_mailbox", "mailbox of admin commands", AdminMailbox),
                ("pcie_buffer", "buffer of I/O commands", partial(IoBuffer, MAX_QUEUES)),
                ("pcie_walker", "walker of data pointers", PointerWalker),
                ("pcie_port", "port of TLPs, 8 bytes wide", partial(TlpPort, TlpSizes())),
                ("pcie_wide_port", "the same, 128 bytes wide", partial(TlpPort, sizes.tlp)),
                (
                    "pcie_translator", "translator of commands, behind the function",
                    partial(CommandTranslator, behemoth, **places),
                ),
                (
                    "pcie_mover", "mover of data, beside it",
                    partial(DataMover, behemoth, **places, port_bytes=sizes.tlp.port_bytes),
                ),
                (
                    "pcie_device_queue", "queue pair of the controller",
                    partial(DeviceQueue, behemoth.address_bits, **places),
                ),
                ("pcie_device_registers", "registers of the controller, with doorbells", DeviceRegisters),
                ("pcie_namespaces", "table of namespaces", partial(NamespaceTable, behemoth)),
                (
                    "pcie_front_end", "all of it, up to the pins of the controller",
                    partial(sizes.front_end, behemoth),
                ),
            )
        ),
    ]  # fmt: skip


def run(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.sim.synthesis.depth import LIMIT
    from flashtrain.sim.synthesis.tools import versions

    tools = versions(placing=options.clock)
    measured = measure(parts(), options.clock, console)
    console.say(f"{MAX_QUEUES} pairs of I/O queues beside the admin queues; commands of up to 1 MiB")
    console.say(resources(measured.values()))
    whole = measured[WHOLE].all_lut6
    console.say(
        f"the whole function has {whole:,} LUT6, {whole / COMMERCIAL_LUT6:.0%} of a commercial core's "
        f"{COMMERCIAL_LUT6:,}, which moves data, too"
    )
    console.say("by " + ", ".join(tools.values()))
    console.document({"parts": {key: one.document() for key, one in measured.items()}, "tools": tools})
    return int(any(one.deepest.depth > LIMIT for one in measured.values()))
