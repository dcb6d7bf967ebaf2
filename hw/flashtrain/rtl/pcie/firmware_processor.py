"""The processor of firmware: a small core of RISC-V, and its bus."""

from amaranth import ClockSignal, Instance, Module, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from flashtrain.rtl.lib.forward import forward

from .firmware_bus import PORTS, FirmwareBus

CORE = "picorv32"
"""The module of the core, which this tree does not have: that of the package pythondata-cpu-picorv32."""


class FirmwareProcessor(wiring.Component):
    """Runs firmware in RTL, beside `PcieController`.

    The core is PicoRV32 with multiplication and division, without compressed instructions and interrupts. It
    begins at address 0 of its memory, whose end is the stack's.

    Parameters: see `FirmwareBus`.

    Members
    -------
    firmware, values, attention, registers   see `FirmwareBus`
    trap : Out(1)   the core has stopped at an instruction that it cannot execute
    """

    def __init__(self, image: bytes, memory_bytes: int = 1 << 16):
        self._bus = FirmwareBus(image, memory_bytes)
        super().__init__({**PORTS, "trap": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.bus = bus = self._bus
        m.submodules.core = Instance(
            CORE,
            p_ENABLE_COUNTERS=0, p_ENABLE_COUNTERS64=0, p_BARREL_SHIFTER=1, p_ENABLE_FAST_MUL=1,
            p_ENABLE_DIV=1,
            i_clk=ClockSignal(), i_resetn=~ResetSignal(), o_trap=self.trap, o_mem_valid=bus.valid,
            i_mem_ready=bus.ready, o_mem_addr=bus.address, o_mem_wdata=bus.word, o_mem_wstrb=bus.strobes,
            i_mem_rdata=bus.found, i_pcpi_wr=0, i_pcpi_rd=0, i_pcpi_wait=0, i_pcpi_ready=0, i_irq=0,
        )  # fmt: skip
        forward(m, bus, self, PORTS)
        return m
