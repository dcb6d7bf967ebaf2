"""A NAND die's logic, from the pins to the array."""

from amaranth import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.forward import follow
from flashtrain.rtl.nand_bus import NandBus
from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require

from .array_port import ArrayPort
from .control import CommandControl, Transfer
from .page_registers import PageRegisters
from .pin_lanes import LANE_BYTES, PinLanes
from .read_level import ReadLevel
from .sequencer import Sequencer
from .tile_randomizer import TileRandomizer
from .updater import Updater


class Die(wiring.Component):
    """Logic of one die. It is the same for every die of a system; what differs is the array on its port::

        commands, addresses ──▶ control ──▶ sequencer ◀──▶ array
                                   │            │            ▲
                                   ▼            ▼            ▼
        data ◀─────────────────▶ lanes ◀─▶ page registers ◀──▶
                                   │            ▲
                                   └─▶ updater ◀┘

    At each beat of a page lanes move, page registers once for each lane that is written or word that is read,
    and the others rest.

    Commands are those of `spec.nand` without GET FEATURES (EEh) and parameter page (ECh). Protocol is taken
    on trust: what ONFI forbids has no defined effect.

    - RB_n falls in the clock after the command. A multi-plane command keeps it low for `tdbsy`, a cache
      command for `tcbsy` or until the array is done with what it was doing, whichever is later.
    - `dqs_i` and `dq_i` follow `re` by one clock, two bytes per clock without a gap. A status byte is given
      anew in each clock of `re`, an ID goes on by one byte.
    - A page register that is opened with 80h holds FFh where no data are written.
    - Columns are multiples of `die_word_bytes`; what is written from one column on is a multiple of 8 bytes.
    - After 30h, 31h and 3Fh the plane that was addressed last is selected for output: after 30h at the column
      of its address, else at 0.
    - UPDATE keeps RB_n low until the tile is done: `tr` from the end of the program before, some clocks for
      each parameter (see `TileWalker`), and the latency of the update unit. From the end of the sense on the
      array programs the tile of the UPDATE before: an array for which the next UPDATE waits never rests.
    - With a code UPDATE corrects the tile before it computes, and gives it parity after (see `TileCode`).
      Nothing else decodes or encodes: pages are stored and given as they come.
    - With a randomizer what UPDATE reads from the source has the key of its row, and what it writes has that
      of the target's (see `TileRandomizer`). Gradients, copies and constants have none.
    - A page may be followed by as many of its spare bytes as there are, in both directions. Behind constants
      and gradients they are ignored, but for the identities behind page 0 of the gradients: what is sensed
      must fit them, and the tile's pages get theirs from them (see `TileIdentity`), while the update unit
      works. Behind copies they are undefined.
    - Copybacks are there if there are spare blocks.
    - With `read_levels` there is SET FEATURES. The level holds for what is sensed from then on; a reset sets
      it to 0.
    - Reads beside leave RB_n as it is. While the array programs or erases ARDY is 0, suspended or not.

    Members
    -------
    pins : In(NandBus(1))   the channel's pins with this die's CE_n and RB_n; outputs are zero while the die
                            is not asked for data, so that those of a channel are joined by OR
    array : Out(ArrayPort)
    resting : Out(1)        two clocks after CE_n rose, nothing but the array changes until it falls again
    """

    def __init__(self, config: FmsConfig):
        for name in ("trr", "tccs", "twhr"):
            require(config.timing.clocks(name) > 5, f"timing.{name}", getattr(config.timing, name),
                    "more than the 5 clocks in which a die reads its register")  # fmt: skip
        self.config = config
        super().__init__({"pins": In(NandBus(1)), "array": Out(ArrayPort(config)), "resting": Out(1)})

    def elaborate(self, platform):
        m = Module()
        pins = self.pins
        m.submodules.control = control = CommandControl(self.config)
        m.submodules.sequencer = sequencer = Sequencer(self.config)
        m.submodules.lanes = lanes = PinLanes(self.config)
        m.submodules.registers = registers = PageRegisters(self.config)
        m.submodules.updater = updater = Updater(self.config)

        follow(m, control, pins, ("ce_n", "we", "cle", "ale", "dq_o"))
        follow(m, sequencer, control, ("command", "byte", "address", "first", "row", "copies"))
        follow(
            m,
            control,
            sequencer,
            ("ready", "array_ready", "beside", "failed", "failed_before", "within_update"),
        )
        follow(m, lanes, control, ("seek", "seek_plane", "new_plane", "column"))
        follow(m, updater, control, ("load", "update", "header_begin", "statistics_begin"))
        m.d.comb += [
            updater.clear.eq(control.clear_statistics),
            registers.clear.eq(control.clear),
            registers.column.eq(control.column),
            pins.rb_n.eq(sequencer.ready),
            sequencer.update_busy.eq(updater.busy),
            sequencer.update_damaged.eq(updater.damaged),
            self.resting.eq(sequencer.resting & lanes.resting & registers.resting & ~updater.busy),
        ]
        for name, member in sequencer.array.signature.members.items():
            inside, outside = getattr(sequencer.array, name), getattr(self.array, name)
            m.d.comb += outside.eq(inside) if member.flow is Out else inside.eq(outside)
        connect(m, registers.words, flipped(self.array.words))
        if self.config.randomizer:
            m.submodules.randomizer = randomizer = TileRandomizer(self.config)
            connect(m, updater.tile, randomizer.values)
            connect(m, randomizer.tile, registers.tile)
            connect(m, updater.identities, randomizer.plain)
            connect(m, randomizer.identities, registers.identities)
            m.d.comb += [
                randomizer.source.eq(sequencer.source_row),
                randomizer.target.eq(sequencer.target_row),
            ]
        else:
            connect(m, updater.tile, registers.tile)
            connect(m, updater.identities, registers.identities)
        if self.config.code:
            connect(m, updater.code, registers.code)

        word_lanes = self.config.die_word_bytes // LANE_BYTES
        selected = ~pins.ce_n
        transfer = control.transfer
        if self.config.read_levels:
            m.submodules.read_level = read_level = ReadLevel(self.config)
            m.d.comb += [
                read_level.begin.eq(control.feature),
                read_level.beat.eq(selected & pins.dqs_o & (transfer == Transfer.FEATURE_IN)),
                read_level.byte.eq(pins.dq_o[:8]),
                read_level.clear.eq(sequencer.array.abort),
                sequencer.feature.eq(read_level.taken),
                self.array.level.eq(read_level.level),
            ]
        m.d.comb += [
            registers.swap.eq(sequencer.swap),
            lanes.fetch.eq(sequencer.handed_over | control.fetch),
            lanes.byte_pair_in.eq(pins.dq_o),
            updater.start.eq(sequencer.update),
            updater.abort.eq(sequencer.array.abort),
            # The memories are asked and written to by turns.
            registers.plane.eq(lanes.plane),
            registers.lane.eq(lanes.lane),
            registers.lane_in.eq(lanes.lane_in),
            registers.put.eq(lanes.put & (transfer == Transfer.PAGE_IN)),
            updater.put.eq(lanes.put & (transfer == Transfer.GRADIENT_IN)),
            registers.ask.eq(lanes.ask & (transfer != Transfer.COPY_OUT) & (lanes.lane % word_lanes == 0)),
            registers.beside.eq(transfer == Transfer.BESIDE_OUT),
            updater.ask.eq(lanes.ask & (transfer == Transfer.COPY_OUT)),
            # Lanes are one further than what was asked for.
            lanes.lane_out.eq(
                Mux(
                    transfer == Transfer.COPY_OUT,
                    updater.lane_out,
                    registers.word_out.word_select((lanes.lane - 1) % word_lanes, 8 * LANE_BYTES),
                )
            ),
        ]
        # What only passes by on the pins does not reach the updater: there nothing moves without need.
        with m.If((transfer == Transfer.GRADIENT_IN) | (transfer == Transfer.COPY_OUT)):
            m.d.comb += [
                updater.plane.eq(lanes.plane),
                updater.lane.eq(lanes.lane),
                updater.lane_in.eq(lanes.lane_in),
            ]
        with m.If(transfer == Transfer.CONSTANTS_IN):
            m.d.comb += updater.byte_pair_in.eq(pins.dq_o)
        with m.If(selected & pins.dqs_o), m.Switch(transfer):
            with m.Case(Transfer.PAGE_IN, Transfer.GRADIENT_IN):
                m.d.comb += lanes.beat_in.eq(1)
            with m.Case(Transfer.CONSTANTS_IN):
                m.d.comb += updater.header_beat.eq(1)

        m.d.sync += [pins.dqs_i.eq(0), pins.dq_i.eq(0)]
        with m.If(selected & pins.re):
            m.d.sync += pins.dqs_i.eq(1)
            with m.Switch(transfer):
                with m.Case(Transfer.PAGE_OUT, Transfer.COPY_OUT, Transfer.BESIDE_OUT):
                    m.d.comb += lanes.beat_out.eq(1)
                    m.d.sync += pins.dq_i.eq(lanes.byte_pair_out)
                with m.Case(Transfer.STATISTICS):
                    m.d.comb += updater.statistics_next.eq(1)
                    m.d.sync += pins.dq_i.eq(updater.byte_pair_out)
                with m.Default():
                    m.d.comb += control.next.eq(transfer == Transfer.ID)
                    m.d.sync += pins.dq_i.eq(control.answer)
        return m
