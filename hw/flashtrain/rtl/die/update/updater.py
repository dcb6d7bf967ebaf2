"""Updates tiles in a die."""

from itertools import accumulate, pairwise, product

from amaranth import (
    Cat,
    ClockDomain,
    Const,
    DomainRenamer,
    Module,
    Mux,
    ResetInserter,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from flashtrain.rtl.die.registers.pin_lanes import LANE_BYTES, lane_number
from flashtrain.rtl.die.update_unit import UpdateUnit
from flashtrain.rtl.lib.forward import follow
from flashtrain.spec import FmsConfig
from flashtrain.spec.optimizer import PROGRAMS, CopyFormat, GradientFormat
from flashtrain.spec.state_format import MOMENTS, SCALE_GROUP, WEIGHTS, Rounding, StateFormat, StateFormats
from flashtrain.spec.update import WORD_BYTES, Tile

from .code_lanes import CodeLanes
from .gradient_buffers import GradientBuffers
from .rounding_bits import RoundingBits
from .step_header import StepHeader
from .step_statistics import StepStatistics
from .tile_code import TileCode
from .tile_identity import LOADED_LANES, IdentityLanes, TileIdentity
from .tile_sequencer import TileSequencer
from .tile_words import ARRAYS, LOWER, TileWords

_FORMATS = [StateFormats(*of) for of in product(WEIGHTS, MOMENTS)]


class Updater(wiring.Component):
    """Updates the tile in the cache registers with the gradients that the pins have loaded::

        pins ──▶ header ────────────────────────┐
             ◀─▶ gradient buffers ◀─▶ sequencer ◀─▶ update unit ──▶ statistics ──▶ pins
                                       ▲  ▲
                       rounding bits ──┘  └─▶ cache registers
           ──▶ identity ──▲ ◀────────────────▶

    The tile sequencer generates the clock of the update unit, divided by `update_divider`, and stops it while
    there is no tile.

    With a code the tile is decoded before the update and encoded after it, see `TileCode`. Identities are
    checked and written when all words are decoded. No identity is written to a damaged tile: one with an
    uncorrectable word, or with a page that is not the expected one.

    In chips without updates (`chips.update`) there is nothing behind the members: outputs are 0.

    Members
    -------
    start : In(1)            begins; `busy` is high from the next cycle until all is written
    abort : In(1)            ends at once
    busy : Out(1)
    header_begin, header_beat, byte_pair_in : In       see `StepHeader`
    clear : In(1)            clears the statistics
    load, update, plane, lane, put, lane_in, ask, lane_out   see `GradientBuffers`
    statistics_begin, statistics_next : In, byte_pair_out : Out   see `StepStatistics`
    tile : Out(TileWords), identities : Out(IdentityLanes)    the cache registers
    code : Out(CodeLanes)    the same, if there is a code
    damaged : Out(planes)    planes on which the tile is damaged; holds from the end of `busy` to the next
                             `start`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "start": In(1),
            "abort": In(1),
            "busy": Out(1),
            "header_begin": In(1),
            "header_beat": In(1),
            "byte_pair_in": In(16),
            "clear": In(1),
            "load": In(1),
            "update": In(1),
            "plane": In(max(1, config.geometry.plane_bits)),
            "lane": In(lane_number(config)),
            "put": In(1),
            "lane_in": In(8 * LANE_BYTES),
            "ask": In(1),
            "lane_out": Out(8 * LANE_BYTES),
            "statistics_begin": In(1),
            "statistics_next": In(1),
            "byte_pair_out": Out(16),
            "tile": Out(TileWords(config)),
            "identities": Out(IdentityLanes(config)),
            **({"code": Out(CodeLanes(config))} if config.code else {}),
            "damaged": Out(config.geometry.planes),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        if not self.config.chips.update:
            return m
        m.submodules.header = header = StepHeader()
        m.submodules.gradients = gradients = GradientBuffers(self.config)
        identity = TileIdentity(self.config)
        m.submodules.identity = ResetInserter(self.abort)(identity)
        m.submodules.sequencer = sequencer = TileSequencer(self.config)
        m.domains.update = domain = ClockDomain(async_reset=True, local=True)
        m.submodules.unit = unit = DomainRenamer("update")(UpdateUnit(self.config.update_interval))
        m.submodules.statistics = statistics = StepStatistics()
        self._tile_size(m, header, sequencer)
        self._round(m, header, identity, sequencer)
        connect(m, sequencer.gradients, gradients.words)
        if self.config.code:
            self._add_code(m, sequencer, identity)
        else:
            connect(m, sequencer.tile, flipped(self.tile))
            m.d.comb += [
                identity.start.eq(self.start),
                self.damaged.eq(identity.wrong),
                self.busy.eq(sequencer.busy | identity.busy),
            ]
        connect(m, identity.pages, flipped(self.identities))
        page_lanes = self.config.geometry.page_bytes // LANE_BYTES
        behind_first = (self.plane == 0) & (self.lane >= page_lanes)
        lane_behind = self.lane - page_lanes
        m.d.comb += [
            identity.put.eq(self.put & behind_first & (lane_behind < LOADED_LANES)),
            identity.lane.eq(lane_behind),
            identity.lane_in.eq(self.lane_in),
            identity.update.eq(self.update),
        ]
        follow(m, gradients, self, ("load", "update", "plane", "lane", "put", "lane_in", "ask"))
        reset = Signal()
        m.d.sync += reset.eq(self.clear | self.abort)
        m.d.comb += [domain.clk.eq(sequencer.clock), domain.rst.eq(ResetSignal() | reset), unit.enable.eq(1)]
        follow(m, unit, sequencer, ("restart", "valid", "w", "m", "v", "gradient"))
        follow(m, sequencer, unit, ("ready", "done", "new_w", "new_m", "new_v", "copy"))
        follow(m, unit, header, ("code", "gradient_format", "copy_format"))
        follow(m, statistics, unit, ("nans", "infinities", "largest", "square"))
        m.d.comb += [
            unit.constants.eq(header.constants),
            header.begin.eq(self.header_begin),
            header.beat.eq(self.header_beat),
            header.byte_pair.eq(self.byte_pair_in),
            self.lane_out.eq(gradients.lane_out),
            sequencer.start.eq(self.start),
            sequencer.abort.eq(self.abort),
            sequencer.wide.eq(header.gradient_format == GradientFormat.FP32),
            sequencer.copies.eq(header.copy_format != CopyFormat.NONE),
            sequencer.unit_busy.eq(unit.busy),
            unit.index.eq(statistics.index),
            statistics.clear.eq(self.clear),
            statistics.tile.eq(sequencer.finished),
            statistics.begin.eq(self.statistics_begin),
            statistics.next.eq(self.statistics_next),
            self.byte_pair_out.eq(statistics.byte_pair),
        ]
        return m

    def _tile_size(self, m: Module, header: StepHeader, sequencer: TileSequencer) -> None:
        """The arrays and parameters of the tile, and the first word of each array.

        Parameters are limited to the tile's size: a read behind its last word would never be granted.
        """
        parameters = Signal.like(sequencer.parameters, reset_less=True)
        first = Signal.like(sequencer.first, reset_less=True)
        arrays, narrow = sequencer.arrays, sequencer.narrow
        scaled = sequencer.scaled if self.config.fp8_state else Const(0, 1)
        split = header.weight_format == StateFormat.SPLIT
        weight_narrow = split | (header.weight_format == StateFormat.BF16)
        moments_narrow = header.moment_format == StateFormat.BF16
        most = Signal.like(parameters)
        with m.Switch(header.code):
            for count in (1, 2, 3):
                with m.Case(*(code for code, program in PROGRAMS.items() if len(program.outputs) == count)):
                    m.d.comb += [
                        arrays.eq(count),
                        narrow.eq(
                            Cat(
                                weight_narrow, moments_narrow.replicate(count - 1), Const(0, 3 - count), split
                            )
                        ),
                    ]
                    if self.config.fp8_state and count > 1:
                        m.d.comb += scaled.eq(header.moment_format == StateFormat.FP8)
        with m.Switch(Cat(arrays, narrow[0], narrow[LOWER], narrow[1], scaled)):
            for count, formats in product((1, 2, 3), _FORMATS):
                if count == 1 and formats.moments is not StateFormat.FP32:
                    continue
                if formats.moments is StateFormat.FP8 and not self.config.fp8_state:
                    continue
                tile = Tile(self.config.geometry, count, GradientFormat.BF16, CopyFormat.NONE, formats)
                with m.Case(count | formats.weight << 2 | formats.moments << 4):
                    m.d.comb += most.eq(tile.parameters)
        fitting = Signal.like(parameters)
        m.d.comb += fitting.eq(Mux(header.parameters > most, most, header.parameters))
        m.d.sync += parameters.eq(Cat(fitting[0] & ~narrow.any(), fitting[1:]))
        m.d.sync += [
            first[1].eq(Mux(narrow[0] & ~narrow[LOWER], parameters >> 1, parameters)),
            first[2].eq(first[1] + Mux(narrow[1], parameters >> 1, parameters)),
            first[LOWER].eq(parameters >> 1),
        ]
        if self.config.fp8_state:
            scales = exact_log2(SCALE_GROUP)
            of_array = parameters >> exact_log2(WORD_BYTES)
            with m.If(scaled):
                m.d.sync += [
                    parameters.eq(fitting[scales:] << scales),
                    first[2].eq(first[1] + of_array),
                ]
            words = (parameters + WORD_BYTES * SCALE_GROUP - 1) >> exact_log2(WORD_BYTES * SCALE_GROUP)
            m.d.sync += [
                first[0].eq(0),
                first[ARRAYS].eq(first[2] + Mux(arrays == 3, of_array, 0)),
                first[ARRAYS + 1].eq(first[ARRAYS] + words),
            ]
        m.d.comb += [sequencer.parameters.eq(parameters), sequencer.first.eq(first)]

    def _round(self, m: Module, header: StepHeader, identity: TileIdentity, sequencer: TileSequencer) -> None:
        """The random bits of the tile's results."""
        m.submodules.rounding = rounding = RoundingBits(self.config)
        zone, page, others = _parts(identity.place, header.first_zone, header.first_page)
        m.d.comb += [
            rounding.start.eq(self.start & (header.rounding == Rounding.STOCHASTIC)),
            rounding.abort.eq(self.abort),
            rounding.key.eq(header.rounding_key),
            rounding.place.eq(
                Cat((zone - header.first_zone)[: len(zone)], (page - header.first_page)[: len(page)], others)
            ),
            rounding.take.eq(sequencer.take),
            sequencer.known.eq(rounding.known),
            sequencer.random.eq(rounding.bits),
            sequencer.rounding.eq(header.rounding),
        ]

    def _add_code(self, m: Module, sequencer: TileSequencer, identity: TileIdentity) -> None:
        m.submodules.code = code = TileCode(self.config)
        connect(m, sequencer.tile, code.sequencer)
        connect(m, code.tile, flipped(self.tile))
        connect(m, code.lanes, flipped(self.code))
        m.d.comb += [
            code.start.eq(self.start),
            code.abort.eq(self.abort),
            code.first.eq(sequencer.first),
            code.split.eq(sequencer.narrow[LOWER]),
            code.sequencing.eq(sequencer.busy),
            code.index.eq(sequencer.index),
            code.identities_busy.eq(identity.busy),
            identity.start.eq(code.decoded),
            identity.void.eq(code.damaged.any()),
            self.damaged.eq(code.damaged | identity.wrong),
            self.busy.eq(code.busy),
        ]


def _parts(place: Value, *like: Value) -> list[Value]:
    """The place of a tile in parts as wide as these, and the rest."""
    ends = list(accumulate(len(part) for part in like))
    return [place[start:end] for start, end in pairwise([0, *ends, len(place)])]
