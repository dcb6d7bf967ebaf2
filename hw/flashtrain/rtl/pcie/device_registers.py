"""The controller's registers for two: its firmware, and the queue pair of hosts with its doorbells."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import Axi4LiteSignature
from flashtrain.spec import Port
from flashtrain.spec.registers import ADDRESS_BITS, Control, Register, cq_head_doorbell, sq_tail_doorbell

from .device_queue import QueueDoorbell


class DeviceRegisters(wiring.Component):
    """Passes the accesses of firmware, and writes doorbells of port HOST between them.

    Writes go one at a time, doorbells first. Nobody reads the answer to a doorbell. Reads are firmware's.

    `enabled` follows what firmware has written to CONTROL. Firmware disables the controller when no command
    of a host is open: bursts that the controller would end without data reach the host's memory.

    Latency: 1 cycle from a write to the registers, none of a read. Throughput: a write in 3 cycles and those
    of the registers.

    Members
    -------
    firmware : In(Axi4LiteSignature)
    doorbells : In(stream(QueueDoorbell))
    registers : Out(Axi4LiteSignature)   of the controller
    enabled : Out(1)                     CONTROL.ENABLE
    """

    def __init__(self):
        bus = Axi4LiteSignature(address_bits=ADDRESS_BITS)
        super().__init__({
            "firmware": In(bus),
            "doorbells": In(stream.Signature(QueueDoorbell())),
            "registers": Out(bus),
            "enabled": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        firmware, bell, registers = self.firmware, self.doorbells, self.registers
        for name in ("araddr", "arprot", "arvalid", "rready"):
            m.d.comb += getattr(registers, name).eq(getattr(firmware, name))
        for name in ("arready", "rdata", "rresp", "rvalid"):
            m.d.comb += getattr(firmware, name).eq(getattr(registers, name))
        is_bell, takes = Signal(), Signal()
        m.d.comb += firmware.bresp.eq(registers.bresp)
        with m.FSM():
            with m.State("WAIT"):
                m.d.comb += [
                    bell.ready.eq(1),
                    takes.eq(~bell.valid & firmware.awvalid & firmware.wvalid),
                    firmware.awready.eq(takes),
                    firmware.wready.eq(takes),
                ]
                m.d.sync += [
                    is_bell.eq(bell.valid),
                    registers.awaddr.eq(firmware.awaddr),
                    registers.awprot.eq(firmware.awprot),
                    registers.wdata.eq(firmware.wdata),
                    registers.wstrb.eq(firmware.wstrb),
                ]
                with m.If(bell.valid):
                    m.d.sync += [
                        registers.awaddr.eq(
                            Mux(
                                bell.payload.of_completions,
                                cq_head_doorbell(Port.HOST),
                                sq_tail_doorbell(Port.HOST),
                            )
                        ),
                        registers.awprot.eq(0),
                        registers.wdata.eq(bell.payload.value),
                        registers.wstrb.eq(~0),
                    ]
                with m.If(bell.valid | takes):
                    m.d.sync += [registers.awvalid.eq(1), registers.wvalid.eq(1)]
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                with m.If(registers.awready):
                    m.d.sync += registers.awvalid.eq(0)
                with m.If(registers.wready):
                    m.d.sync += registers.wvalid.eq(0)
                m.d.comb += [
                    firmware.bvalid.eq(registers.bvalid & ~is_bell),
                    registers.bready.eq(is_bell | firmware.bready),
                ]
                with m.If(registers.bvalid & registers.bready):
                    m.next = "WAIT"
                    # A write without all strobes is refused.
                    with m.If((registers.awaddr == Register.CONTROL) & ~registers.bresp[1]):
                        m.d.sync += self.enabled.eq((registers.wdata & Control.ENABLE) != 0)
        return m
