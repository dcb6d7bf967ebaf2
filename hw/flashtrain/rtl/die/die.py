"""A NAND die's logic, from the pins to the array."""

from amaranth import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.forward import follow
from flashtrain.rtl.nand_bus import NandBus
from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require

from .array_port import ArrayPort
from .command.control import CommandControl, Transfer
from .command.read_level import ReadLevel
from .command.sequencer import Sequencer
from .registers.page_registers import PageRegisters
from .registers.pin_lanes import LANE_BYTES, PinLanes
from .update.tile_randomizer import TileRandomizer
from .update.updater import Updater


class Die(wiring.Component):
    """Logic of one die. All dies of a system have the same logic, and differ in the array on its port::

        commands, addresses ──▶ control ──▶ sequencer ◀──▶ array
                                   │            │            ▲
                                   ▼            ▼            ▼
        data ◀─────────────────▶ lanes ◀─▶ page registers ◀──▶
                                   │            ▲
                                   └─▶ updater ◀┘

    At each beat of a page the lanes change. The page registers change once for each lane written or word
    read, and the other units are idle.

    Commands are those of `spec.nand` without GET FEATURES (EEh) and parameter page (ECh). The die does not
    check the protocol: the effect of a command that ONFI forbids is undefined.

    - RB_n falls in the cycle after the command. A multi-plane command keeps it low for `tdbsy`. A cache
      command keeps it low for `tcbsy`, and until the array's previous operation ends.
    - `dqs_i` and `dq_i` follow `re` by one cycle, two bytes per cycle without a gap. Each cycle of `re` reads
      the current status, or the next byte of an ID.
    - A page register that is opened with 80h holds FFh where no data are written.
    - Columns are multiples of `die_word_bytes`; data written from one column on are a multiple of 8 bytes.
    - 30h, 31h and 3Fh select the plane that was addressed last for output: 30h at the column of its address,
      the others at column 0.
    - UPDATE keeps RB_n low until the tile is updated. This takes `tr` from the end of the program before,
      some cycles for each parameter (see `TileSequencer`), and the latency of the update unit.
    - From the end of an UPDATE's sense on the array programs the tile of the UPDATE before. The array is
      never idle if the next UPDATE is already waiting.
    - With a code UPDATE corrects the tile before the computation, and encodes it after (see `TileCode`). No
      other command decodes or encodes pages.
    - With a randomizer UPDATE reads with the key of the source's page, and writes with that of the target's
      page (see `TileRandomizer`). Gradients, copies and constants have no key.
    - A page may be followed by any number of its spare bytes, in both directions. The die ignores them behind
      constants and gradients, but for the identities behind page 0 of the gradients. Behind copies they are
      undefined.
    - The sensed pages of a tile must match these identities, from which the new pages get theirs (see
      `TileIdentity`). Both occur while the update unit works.
    - Copybacks exist with spare blocks.
    - SET FEATURES exists with `read_levels`. The level applies to all later senses; a reset sets it to 0.
    - Suspended reads do not change RB_n. While the array programs or erases, suspended or not, ARDY is 0.

    Members
    -------
    pins : In(NandBus(1))   the channel's pins with this die's CE_n and RB_n; outputs are zero unless the
                            die sends data, so that those of a channel are joined by OR
    array : Out(ArrayPort)
    """

    def __init__(self, config: FmsConfig):
        require(not config.chips.has_maker_suspend, "chips.program_suspend and chips.erase_suspend",
                (config.chips.program_suspend, config.chips.erase_suspend),
                "0 for simulated dies, which have suspended reads of this project")  # fmt: skip
        self.config = config
        super().__init__({"pins": In(NandBus(1)), "array": Out(ArrayPort(config))})

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
            ("ready", "array_ready", "suspended_read", "failed", "failed_before", "within_update"),
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
                randomizer.source.eq(sequencer.source_page),
                randomizer.target.eq(sequencer.target_page),
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
            # The memories are read and written by turns.
            registers.plane.eq(lanes.plane),
            registers.lane.eq(lanes.lane),
            registers.lane_in.eq(lanes.lane_in),
            registers.put.eq(lanes.put & (transfer == Transfer.PAGE_IN)),
            updater.put.eq(lanes.put & (transfer == Transfer.GRADIENT_IN)),
            registers.ask.eq(lanes.ask & (transfer != Transfer.COPY_OUT) & (lanes.lane % word_lanes == 0)),
            registers.suspended_read.eq(transfer == Transfer.SUSPENDED_READ_OUT),
            updater.ask.eq(lanes.ask & (transfer == Transfer.COPY_OUT)),
            # The lane is one ahead of the requested one.
            lanes.lane_out.eq(
                Mux(
                    transfer == Transfer.COPY_OUT,
                    updater.lane_out,
                    registers.word_out.word_select((lanes.lane - 1) % word_lanes, 8 * LANE_BYTES),
                )
            ),
        ]
        # Operand isolation: other data of the pins do not toggle the inputs of the updater.
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
                with m.Case(Transfer.PAGE_OUT, Transfer.COPY_OUT, Transfer.SUSPENDED_READ_OUT):
                    m.d.comb += lanes.beat_out.eq(1)
                    m.d.sync += pins.dq_i.eq(lanes.byte_pair_out)
                with m.Case(Transfer.STATISTICS):
                    m.d.comb += updater.statistics_next.eq(1)
                    m.d.sync += pins.dq_i.eq(updater.byte_pair_out)
                with m.Default():
                    m.d.comb += control.next.eq(transfer == Transfer.ID)
                    m.d.sync += pins.dq_i.eq(control.answer)
        return m
