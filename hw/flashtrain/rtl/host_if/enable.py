"""The enable sequencer."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class EnableSequencer(wiring.Component):
    """Holds the controller in reset until it is enabled, and drains the AXI ports after it is disabled.

    When `enable` falls the reset is asserted, and the AXI guards end the bursts under way. A new start waits
    until both are drained. A change of the reset waits until all channels have seen the one before.

    Latency: 1 cycle from `enable` to `reset`.

    Members
    -------
    enable : In(1)        CONTROL.ENABLE
    arrived : In(1)       `reset`, when all channels have it
    drained : In(1)       no AXI port has a burst under way
    core_ready : In(1)    everything held in reset is initialised
    reset : Out(1)        of everything but the register file and the AXI guards
    quiesce : Out(1)      to the AXI guards; a register, on which the handshakes of all bursts depend
    running : Out(1)      the controller is enabled and out of reset
    ready : Out(1)        STATE.READY: initialised; or disabled, and the ports not drained yet
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "enable": In(1),
                "arrived": In(1),
                "drained": In(1),
                "core_ready": In(1),
                "reset": Out(1, init=1),  # pyright: ignore[reportCallIssue]
                "quiesce": Out(1, init=1),  # pyright: ignore[reportCallIssue]
                "running": Out(1),
                "ready": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        with m.FSM(name="enable"):
            with m.State("OFF"):
                with m.If(self.enable & self.arrived):
                    m.d.sync += [self.reset.eq(0), self.quiesce.eq(0)]
                    m.next = "ON"
            with m.State("ON"):
                m.d.comb += [self.running.eq(1), self.ready.eq(self.core_ready)]
                with m.If(~self.enable):
                    m.d.sync += self.quiesce.eq(1)
                    m.next = "END"
                    with m.If(~self.arrived):
                        m.d.sync += self.reset.eq(1)
                        m.next = "DRAIN"
            with m.State("END"):
                m.d.comb += self.ready.eq(~self.enable)
                with m.If(~self.arrived):
                    m.d.sync += self.reset.eq(1)
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                m.d.comb += self.ready.eq(~self.enable)
                with m.If(self.drained):
                    m.next = "OFF"
        return m
