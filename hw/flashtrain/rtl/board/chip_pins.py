"""A board's design as its pads need it: the pins of a chip behind registers, and a reset of its own."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.spec.boards import Board

from .board import BoardCore

RESET_CYCLES = 16
"""From the lock of the clock to the end of the reset."""


class StartUp(wiring.Component):
    """The reset of a board, and the protection of its chips: from power-on, and whenever the clock is lost.

    Latency: `RESET_CYCLES` and 3 from `locked` to the end of the reset, 4 from its loss to the reset. WP# is
    low a cycle longer than the reset.

    Members
    -------
    locked : In(1)     the clock is stable; not synchronised
    reset : Out(1)     a register
    wp_n : Out(1)      WP# of all chips; a register
    """

    locked: In(1)
    reset: Out(1, init=1)  # pyright: ignore[reportCallIssue]
    wp_n: Out(1)

    def elaborate(self, platform):
        m = Module()
        locked, count = Signal(), Signal(range(RESET_CYCLES))
        m.submodules.locked = FFSynchronizer(self.locked, locked)
        with m.If(~locked):
            m.d.sync += count.eq(0)
        with m.Elif(~count.all()):
            m.d.sync += count.eq(count + 1)
        # A chip is protected until the supply and the clock are stable.
        m.d.sync += [self.reset.eq(~count.all()), self.wp_n.eq(count.all() & ~self.reset)]
        return m


_OUTPUTS = ("cle", "ale", "we_n", "re_n")


class BoardPins(wiring.Component):
    """`BoardCore` with the chips of one channel in the asynchronous interface.

    Latency: a register in each direction between controller and pads, thus a `port_delay` of 2.

    Members
    -------
    locked : In(1)                      the clock is stable; not synchronised
    line_in, line_out : In(1), Out(1)   the serial line, high at rest
    leds : Out(3)                       out of reset, the interrupt, and a chip is selected
    ce_n : Out(dies); cle, ale, we_n, re_n, wp_n : Out(1)   of the chips
    dq_o, dq_t, dq_i : Out(8), Out(8), In(8)   data; a high bit of `dq_t` lets the pad float
    rb_n : In(dies)                     R/B#
    """

    def __init__(self, board: Board):
        self.board = board
        dies = board.config.chip_enables
        super().__init__({
            "locked": In(1),
            "line_in": In(1),
            "line_out": Out(1, init=1),  # pyright: ignore[reportCallIssue]
            "leds": Out(3),
            "ce_n": Out(dies, init=(1 << dies) - 1),  # pyright: ignore[reportCallIssue]
            **{name: Out(1, init=name.endswith("_n")) for name in _OUTPUTS},  # pyright: ignore[reportCallIssue]
            "wp_n": Out(1),
            "dq_o": Out(8),
            "dq_t": Out(8, init=0xFF),  # pyright: ignore[reportCallIssue]
            "dq_i": In(8),
            "rb_n": In(dies),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.start_up = start_up = StartUp()
        reset = start_up.reset
        m.submodules.core = core = SharedModule(BoardCore(self.board), "flashtrain_board", reset=reset)
        (nand,) = core.nand
        m.d.comb += [
            start_up.locked.eq(self.locked),
            self.wp_n.eq(start_up.wp_n),
            core.line_in.eq(self.line_in),
            self.line_out.eq(core.line_out),
            nand.dq_i.eq(self._registered(m, self.dq_i)),
            nand.rb_n.eq(self.rb_n),
        ]
        m.d.sync += [
            self.leds.eq(Cat(~reset, core.irq, ~nand.ce_n.all())),
            self.ce_n.eq(nand.ce_n),
            *(getattr(self, name).eq(getattr(nand, name)) for name in _OUTPUTS),
            self.dq_o.eq(nand.dq_o),
            self.dq_t.eq((~nand.dq_oe).replicate(8)),
        ]
        return m

    def _registered(self, m: Module, pads):
        register = Signal.like(pads, name="dq_i_register")
        m.d.sync += register.eq(pads)
        return register
