"""The pins of a channel's NAND bus, with one sample per cycle of the NV-DDR3 interface.

A double-data-rate PHY turns them into ONFI's pins. It sends the two bytes of `dq` on the two edges of DQS,
low byte first. It makes the edges of WE_n and RE_n from their strobes. While `sdr` is high, the levels of
WE_n and RE_n come from the controller. DQ then carries a byte for each of their cycles, without DQS.

With SCA commands, addresses and status have a bus of their own (`ScaBus`, `spec.sca`). The PHY makes both
edges of a cycle of CA_CLK from a strobe.
"""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig


def asynchronous_pins() -> dict[str, wiring.Member]:
    """The outputs that `NandBus` has for the asynchronous interface."""
    return {
        "sdr": Out(1),
        "we_n": Out(1, init=1),  # pyright: ignore[reportCallIssue]
        "re_n": Out(1, init=1),  # pyright: ignore[reportCallIssue]
        "dq_oe": Out(1),
    }


class NandBus(wiring.Signature):
    """Pins as the controller sees them.

    Members
    -------
    ce_n : Out(dies)   chip enable of each die, or of the LUNs that share one; at most one is low
    cle, ale : Out(1)  the byte on dq is a command, an address; held for a whole cycle of tWC
    we : Out(1)        rising edge of WE_n: the die latches the command or address byte dq_o[0:8] in this
      cycle
    dqs_o : Out(1)     the controller's DQS toggles: dq_o carries two bytes to the selected die
    re : Out(1)        RE_n toggles: the selected die shall output two bytes
    dq_o : Out(16)     to the dies
    dqs_i : In(1)      the selected die's DQS toggles: dq_i carries two bytes, a fixed few cycles after `re`
    dq_i : In(16)      from the selected die; a status byte is in the low half
    rb_n : In(dies)    ready/busy_n, as many as chip enables; or `ready` of them

    With `asynchronous`, for a command port or SDR as data interface:

    sdr : Out(1)       the asynchronous interface: `we`, `re` and `dqs_o` are low; of dq_o and dq_i the low
      bytes hold. dq_i is the level of the pins, a fixed few cycles late
    we_n, re_n : Out(1)   levels of the pins WE_n and RE_n
    dq_oe : Out(1)     the controller drives DQ
    """

    def __init__(self, dies: int, *, ready: int = 0, asynchronous: bool = False):
        self.dies = dies
        super().__init__({
            "ce_n": Out(dies, init=(1 << dies) - 1),  # pyright: ignore[reportCallIssue]
            "cle": Out(1),
            "ale": Out(1),
            "we": Out(1),
            **_data_pins(ready or dies),
            **(asynchronous_pins() if asynchronous else {}),
        })  # fmt: skip


def _data_pins(dies: int) -> dict[str, wiring.Member]:
    return {
        "dqs_o": Out(1), "re": Out(1), "dq_o": Out(16), "dqs_i": In(1), "dq_i": In(16), "rb_n": In(dies),
    }  # fmt: skip


class ScaBus(wiring.Signature):
    """Pins of a channel with SCA as the controller sees them.

    Members
    -------
    ca_ce_n : Out(dies)   CA_CE_n of each die; at most one is low
    ca_clk : Out(1)    a cycle of CA_CLK: the die latches ca_o, or its next two bits come
    ca_o : Out(4)      to the dies: bits of a packet, see `spec.sca`
    ca_oe : Out(1)     the controller drives CA
    ca_valid : In(1)   ca_i brings two bits of a status, a fixed few cycles after their `ca_clk`
    ca_i : In(2)       from the selected die
    dqs_o, re, dq_o, dqs_i, dq_i, rb_n : as in `NandBus`, of the die between its packets DATA_BEGIN and
      DATA_END
    """

    def __init__(self, dies: int):
        self.dies = dies
        super().__init__({
            "ca_ce_n": Out(dies, init=(1 << dies) - 1),  # pyright: ignore[reportCallIssue]
            "ca_clk": Out(1),
            "ca_o": Out(4),
            "ca_oe": Out(1),
            "ca_valid": In(1),
            "ca_i": In(2),
            **_data_pins(dies),
        })  # fmt: skip


def has_asynchronous_pins(config: FmsConfig) -> bool:
    return config.command_port or config.chips.sdr


def nand_bus(config: FmsConfig, dies: int = 0) -> NandBus | ScaBus:
    """The pins of a channel of this configuration, or of so many of its chip enables."""
    dies = dies or config.chip_enables
    if config.chips.sca:
        return ScaBus(dies)
    return NandBus(dies, asynchronous=has_asynchronous_pins(config))
