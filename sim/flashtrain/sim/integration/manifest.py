"""The manifest `flashtrain.json`: the interfaces, clock domains, resets, memories and files of an export."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version

from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.controller import clock_domains
from flashtrain.rtl.export.inventory import MemoryUse
from flashtrain.rtl.export.pins import Bundle, Protocol
from flashtrain.rtl.export.systemverilog import ExportedDesign
from flashtrain.rtl.export.tools import tool_versions
from flashtrain.rtl.lib.shared import clock_ports
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.spec import FmsConfig

from .files import File

PATH = "flashtrain.json"


def manifest(
    config: FmsConfig,
    clocks: Clocks,
    files: Sequence[File],
    tops: dict[str, str],
    bundles: Sequence[Bundle],
    designs: Sequence[ExportedDesign],
    memories: Sequence[MemoryUse],
    pcie: PcieSizes | None,
) -> str:
    """JSON. Nothing in it depends on the machine or the time."""
    content = {
        "name": "flashtrain",
        "version": version("flashtrain"),
        "tools": tool_versions(),
        "tops": tops,
        "clocks": _clocks(config, clocks, tops["wrapper"]),
        "resets": _resets(clocks, tops),
        "bundles": [_bundle(bundle, clocks) for bundle in bundles],
        # The text is that of one configuration: no module of it has a parameter.
        "parameters": {},
        "files": [{"path": file.path, "set": file.role.value} for file in files],
        "modules": {
            module.name: [asdict(port) for port in module.ports]
            for design in designs
            for module in design.modules
        },
        "memories": [
            {"path": "/".join(use.path), "copies": use.copies, "rows": use.rows, "bits": use.bits}
            for use in memories
        ],
        "configuration": asdict(config),
        **({"pcie": asdict(pcie)} if pcie else {}),
    }
    return json.dumps(content, indent=2) + "\n"


def _clocks(config: FmsConfig, clocks: Clocks, top: str) -> list[dict[str, object]]:
    mhz = clocks.nand_mhz
    wrapper = [
        (
            "aclk",
            clocks.system_mhz,
            "AXI ports, interrupt and front end" if clocks.crosses else "all of the controller",
        )
    ]
    if clocks.crosses:
        wrapper.append(("nand_clk", mhz, "channel engines and NAND pins; asynchronous to aclk"))
    return [
        *(
            {"port": port, "module": top, "mhz": frequency, "purpose": purpose}
            for port, frequency, purpose in wrapper
        ),
        {"port": "clk", "module": "flashtrain_die", "mhz": mhz, "purpose": "NAND interface of the die"},
        {
            "signal": "updater.sequencer.clock",
            "module": "flashtrain_die",
            "mhz": mhz / config.update_divider,
            "derived_from": "clk",
            "divided_by": config.update_divider,
            "purpose": "update unit of the die; stops between tiles",
        },
    ]


def _resets(clocks: Clocks, tops: dict[str, str]) -> list[dict[str, object]]:
    return [
        {
            "port": "aresetn",
            "module": tops["wrapper"],
            "active": "low",
            "assertion": "asynchronous",
            "release": "synchronised inside",
            "clock": ", ".join(dict.fromkeys(("aclk", clocks.nand_port))),
        },
        *(
            {
                "port": reset,
                "module": module,
                "active": "high",
                "assertion": "synchronous",
                "release": "synchronous",
                "clock": clock,
            }
            for module, domains in ((tops["controller"], clock_domains(clocks)), (tops["die"], ("sync",)))
            for clock, reset in map(clock_ports, domains)
        ),
    ]


def _bundle(bundle: Bundle, clocks: Clocks) -> dict[str, object]:
    return {
        "prefix": bundle.name,
        "protocol": bundle.protocol.value,
        "purpose": bundle.purpose,
        "clock": clocks.nand_port if bundle.protocol is Protocol.NAND else "aclk",
        "pins": [{"name": pin.name, "direction": pin.direction, "width": pin.width} for pin in bundle.pins],
    }
