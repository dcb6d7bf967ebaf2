"""A die agent with its timers, as a bench top."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import connect

from flashtrain.rtl.channel.die_agent import DieAgent
from flashtrain.rtl.channel.timer import Timer
from flashtrain.rtl.forward import forward
from flashtrain.spec import FmsConfig


class TimedAgent(wiring.Component):
    """Members: those of `DieAgent` but `timers`."""

    def __init__(self, config: FmsConfig, **options: int):
        self.agent = DieAgent(config, **options)
        members = dict(self.agent.signature.members)
        del members["timers"]
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        m.submodules.agent = agent = self.agent
        timers = agent.timers
        for name, port in (("array", timers.array), ("short", timers.short), ("read", timers.read)):
            m.submodules[name] = timer = Timer(len(port.clocks))
            connect(m, port, timer.port)
        forward(m, agent, self, self.signature.members)
        return m
