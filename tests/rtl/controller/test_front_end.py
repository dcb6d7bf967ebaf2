"""The front end's side of the channel interfaces, and the whole controller's units."""

import gc
import warnings
from dataclasses import replace

import pytest
from amaranth.hdl import UnusedElaboratable
from amaranth.lib import wiring

from flashtrain.rtl.controller import Controller
from flashtrain.rtl.export.inventory import memories
from flashtrain.rtl.front_end import FrontEnd
from flashtrain.rtl.lib.shared import leaf_ports
from flashtrain.spec import preset
from tests.rtl.netlist import Netlist


@pytest.mark.parametrize(("name", "command_port"), [("tiny", True), ("tiny_ecc", False)])
def test_signals_to_channels_come_from_registers(name, command_port):
    netlist = Netlist.of(FrontEnd(replace(preset(name), command_port=command_port)))
    to_channels = [
        port
        for port, flow, _ in leaf_ports(netlist.top)
        if flow == wiring.Out
        and port.startswith(("channels__", "broadcast__", "data_valid", "channel_reset"))
    ]
    assert len(to_channels) > 30
    paths = {port: netlist.inputs_behind(port) for port in to_channels}
    assert not any(paths.values()), {port: inputs for port, inputs in paths.items() if inputs}
    # The register bus accepts a write when its last part is there.
    assert "registers__wvalid" in netlist.inputs_behind("registers__awready")


def test_the_controller_has_each_unit_that_it_makes():
    """pyproject.toml silences Amaranth's warning: tests make units of which they need the ports alone."""
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnusedElaboratable)
        memories(Controller(preset("tiny_ecc")))
        gc.collect()
    assert not [str(one.message) for one in caught]
