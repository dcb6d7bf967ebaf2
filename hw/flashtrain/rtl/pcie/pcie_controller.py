# amaranth: UnusedElaboratable=no
"""A drive on PCI Express, without its firmware: the front end of the host's bus, and the controller."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from flashtrain.rtl.controller import Controller
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.rtl.nand_bus import nand_bus
from flashtrain.spec import FmsConfig
from flashtrain.spec.pcie import TlpSizes

from .layouts import MOST_BYTES
from .pcie_front_end import HOST_SIDE, PcieFrontEnd


class PcieController(wiring.Component):
    """`PcieFrontEnd` and `Controller` in one domain. The controller's interrupt has no use.

    Parameters: see `PcieFrontEnd`.

    Members
    -------
    accesses, answers, requests, data, completions, enable_vectors, mask_vectors, fault   see `Function`
    attention, running, firmware, values, registers        see `PcieFrontEnd`
    nand : Out(NandBus).array(C)                           see `Controller`
    """

    def __init__(
        self, config: FmsConfig, queues: int, entries: int, slots: int, most_bytes: int = MOST_BYTES,
        tlp: TlpSizes | None = None,
    ):  # fmt: skip
        self.config = config
        self._front_end = PcieFrontEnd(config, queues, entries, slots, most_bytes, tlp)
        members = self._front_end.signature.members
        super().__init__({
            **{name: members[name] for name in self.outer},
            "nand": Out(nand_bus(config)).array(config.geometry.channels),
        })  # fmt: skip

    outer = (*HOST_SIDE, "firmware", "values", "registers")

    def elaborate(self, platform):
        m = Module()
        m.submodules.front_end = front_end = SharedModule(self._front_end, "flashtrain_pcie")
        m.submodules.controller = controller = SharedModule(Controller(self.config), "flashtrain")
        forward(m, front_end, self, self.outer)
        connect(m, controller.data, front_end.flash_data)
        connect(m, controller.queue, front_end.flash_queue)
        connect(m, front_end.flash_registers, controller.registers)
        for outside, inside in zip(self.nand, controller.nand, strict=True):
            connect(m, inside, flipped(outside))
        return m
