"""The hub of the simulated system, with its clockwork."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import connect

from flashtrain.rtl.forward import forward
from flashtrain.rtl.frontend.clockwork import HubClockwork
from flashtrain.rtl.hub import Hub
from flashtrain.rtl.shared import SharedModule
from flashtrain.spec import FmsConfig


class HubUnit(wiring.Component):
    """Members are those of `Hub` but `clockwork`."""

    def __init__(self, config: FmsConfig):
        self.config = config
        self._hub = Hub(config)
        super().__init__({k: v for k, v in self._hub.signature.members.items() if k != "clockwork"})

    def elaborate(self, platform):
        m = Module()
        m.submodules.hub = hub = self._hub
        clockwork = SharedModule(
            HubClockwork(self.config), "flashtrain_hub_clockwork", reset=hub.channel_reset
        )
        m.submodules.clockwork = clockwork
        connect(m, hub.clockwork, clockwork.port)
        forward(m, hub, self, self.signature.members)
        return m
