"""Decides which slices each page of an append gets, and its mode and base."""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from flashtrain.spec.codec import BLOCK, DELAY, HEADER_BYTES, SLICE_BYTES, Mode, least_slices
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.streams import Codec

from .byte_network import delayed
from .classes import plane_stride
from .group_classifier import COST_BITS, RANGES, ClassifiedLayout
from .group_ring import INDEX_BITS
from .layouts import CLASSES, FIRST, GROUP_SLICES, SLICE_BITS, STRIDE_BITS, ChoiceLayout, JobLayout, PageShape
from .sampler import APPEND_BITS, ChoiceEntry

PART_CYCLES = 6
"""From the decision about a group until it is read from the ring and not needed there any more."""


class PageEndLayout(data.StructLayout):
    """The content of a page's header. `behind`: the first slice behind the page."""

    def __init__(self):
        super().__init__({
            "codec": 2, "choice": ChoiceLayout(), "first": SLICE_BITS, "behind": SLICE_BITS, "last": 1,
            "total": SLICE_BITS,
        })  # fmt: skip


class PartLayout(data.StructLayout):
    """Slices of a group that go to a page.

    - index: of the group in the ring.
    - classes, wide, mode: of the group.
    - taken: the slices.
    - planes: offset of the planes of slice 0, taken or not; those of the others follow.
    - free: bytes between planes and payload, before slice 0 and behind each slice, if these are taken.
    - end: the first slice behind those that are taken; 4 if all are.
    - buffer: page buffer.
    - closes: the page ends with them; `page_end` is valid.
    """

    def __init__(self, shape: PageShape, buffers: int):
        super().__init__({
            "index": INDEX_BITS,
            "classes": data.ArrayLayout(CLASSES, GROUP_SLICES),
            "wide": 1,
            "mode": Mode,
            "taken": GROUP_SLICES,
            "planes": shape.offset_bits,
            "free": data.ArrayLayout(shape.offset_bits, GROUP_SLICES + 1),
            "end": bits_for(GROUP_SLICES + 1),
            "buffer": bits_for(buffers),
            "closes": 1,
            "page_end": PageEndLayout(),
        })  # fmt: skip


class PageFitter(wiring.Component):
    """Takes the slices of an append in order, and closes a page where the next slice does not fit.

    A page begins with the present mode and base. Their right choice is computed while its first groups are
    under way. If it is another one, the page begins anew.

    Latency: 2 cycles from a classified group to its part. Throughput: a group per cycle; a page takes one
    more. With another choice it takes `CLASSIFIER_CYCLES` and some 12 cycles more.

    Members
    -------
    job : In(stream(JobLayout))
    choices : In(stream(ChoiceEntry))
    restart : Out(1), restart_at : Out(6)   groups from this one on are needed with `choice`
    choice : Out(ChoiceLayout), wide : Out(1)   of the groups to be classified
    done : In(6)               groups before this pointer are classified
    read_at : Out(5), read : In(ClassifiedLayout)
    buffer_free : In(1)        a page buffer is free; a page may begin
    begins : Out(1)            a page has begun, and taken it
    part_valid : Out(1), part : Out(PartLayout)
    retired : Out(6)           groups before this pointer are not needed any more, but for parts under way
    """

    def __init__(self, page_bytes: int, buffers: int):
        self.shape = PageShape(page_bytes)
        self.buffers = buffers
        super().__init__({
            "job": In(stream.Signature(JobLayout())),
            "choices": In(stream.Signature(ChoiceEntry())),
            "restart": Out(1),
            "restart_at": Out(INDEX_BITS + 1),
            "choice": Out(ChoiceLayout()),
            "wide": Out(1),
            "done": In(INDEX_BITS + 1),
            "read_at": Out(INDEX_BITS),
            "read": In(ClassifiedLayout()),
            "buffer_free": In(1),
            "begins": Out(1),
            "part_valid": Out(1),
            "part": Out(PartLayout(self.shape, buffers)),
            "retired": Out(INDEX_BITS + 1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        shape = self.shape
        offset, number_bits = shape.offset_bits, SLICE_BITS - 2

        initial = Const(FIRST, ChoiceLayout())

        # The append.
        codec, total = Signal(2), Signal(SLICE_BITS)
        working, append = Signal(), Signal(APPEND_BITS, init=-1)
        m.d.comb += self.wide.eq(codec == Codec.WINDOW32)
        stride = Signal(STRIDE_BITS)
        m.d.comb += stride.eq(plane_stride(self.choice.mode, self.wide))

        # Where the planes of a group begin, if a page begins with one of its slices.
        begins_at = Array(Signal(offset, name=f"begins_at_{number}") for number in range(GROUP_SLICES))
        m.d.sync += [begin.eq(HEADER_BYTES - number * stride) for number, begin in enumerate(begins_at)]

        # The group at work, and the next one.
        at, number = Signal(INDEX_BITS + 1), Signal(number_bits)  # of the next one
        group, group_at = Signal(ClassifiedLayout(), reset_less=True), Signal(INDEX_BITS + 1)
        group_number = Signal(number_bits)
        holds = Signal()  # a group is at work
        waiting = Signal(GROUP_SLICES)  # its slices that no page has
        costs = Signal(data.ArrayLayout(COST_BITS, GROUP_SLICES))  # of these, up to each
        skip = Signal(range(GROUP_SLICES))  # slices of the next group that the page before has

        # The page.
        free, planes = Signal(offset), Signal(offset)
        began = Signal()
        buffer = Signal(range(self.buffers))
        page_at, page_group, page_skip = Signal.like(at), Signal.like(number), Signal.like(skip)
        first, first_before = Signal(SLICE_BITS), Signal(SLICE_BITS)  # slice of it, and of the page before
        settled = Signal(init=1)  # its choice is the right one

        differences = [Signal(signed(offset + 1), name=f"difference_{k}") for k in range(GROUP_SLICES)]
        m.d.comb += [difference.eq(free - costs[k]) for k, difference in enumerate(differences)]
        fits = Signal(GROUP_SLICES)
        m.d.comb += fits.eq(Cat(~difference[-1] for difference in differences))
        all_fit, goes, stays, moves, ends, loads = (
            Signal(name=name) for name in ("all_fit", "goes", "stays", "moves", "ends", "loads")
        )
        m.d.comb += [
            all_fit.eq(fits[-1]),
            # A page does not close before its choice is settled.
            goes.eq(holds & (began | self.buffer_free) & (settled | (all_fit & ~group.last))),
            stays.eq(goes & ~all_fit),
            moves.eq(goes & all_fit),
            ends.eq(moves & group.last),
            self.begins.eq(goes & ~began),
            loads.eq(working & ~ends & (~holds | moves) & (at != self.done)),
            self.read_at.eq(at),
        ]

        # The slices that the page has no room for begin with `left`; of a new group `skip` are gone.
        left = Signal(range(GROUP_SLICES))
        m.d.comb += left.eq(Mux(~fits[0], 0, Mux(~fits[1], 1, Mux(~fits[2], 2, 3))))

        def costs_from(begin: Value, source: Value) -> Value:
            """The costs of all slices from this one on, 0 before it."""
            rows = [
                Cat(
                    source[RANGES.index((first, end))] if end >= first else Const(0, COST_BITS)
                    for end in range(GROUP_SLICES)
                )
                for first in range(GROUP_SLICES)
            ]
            return Array(rows)[begin]

        def slices_from(begin: Value) -> Value:
            return Array([(1 << GROUP_SLICES) - (1 << first) for first in range(GROUP_SLICES)])[begin]

        with m.If(loads | stays):
            m.d.sync += [
                costs.eq(
                    Mux(holds & ~all_fit, costs_from(left, group.costs), costs_from(skip, self.read.costs))
                ),
                waiting.eq(Mux(holds & ~all_fit, slices_from(left), slices_from(skip))),
            ]
        with m.If(loads):
            m.d.sync += [
                group.eq(self.read), group_at.eq(at), group_number.eq(number), skip.eq(0),
                at.eq(at + 1), number.eq(number + 1), holds.eq(1),
            ]  # fmt: skip
        with m.Elif(moves):
            m.d.sync += holds.eq(0)
        with m.If(goes):
            m.d.sync += began.eq(1)
        with m.If(moves):
            m.d.sync += [free.eq(differences[-1]), planes.eq(planes + (stride << 2))]
        with m.If(stays | ends):
            m.d.sync += [
                began.eq(0),
                buffer.eq(Mux(buffer == self.buffers - 1, 0, buffer + 1)),
                free.eq(shape.capacity),
                planes.eq(Mux(all_fit, begins_at[0], begins_at[left])),
            ]
        with m.If(stays):
            m.d.sync += [
                settled.eq(0), page_at.eq(group_at), page_group.eq(group_number), page_skip.eq(left)
            ]  # fmt: skip

        # The part of the page that this group is.
        part = self.part
        m.d.sync += [
            self.part_valid.eq(goes),
            part.index.eq(group_at),
            part.classes.eq(group.classes),
            part.wide.eq(self.wide),
            part.mode.eq(self.choice.mode),
            part.taken.eq(waiting & fits),
            part.planes.eq(planes),
            part.free[0].eq(free),
            *(part.free[1 + k].eq(difference) for k, difference in enumerate(differences)),
            part.end.eq(Mux(all_fit, GROUP_SLICES, left)),
            part.buffer.eq(buffer),
            part.closes.eq(stays | ends),
            part.page_end.codec.eq(codec),
            part.page_end.choice.eq(self.choice),
            part.page_end.first.eq(first),
            part.page_end.last.eq(ends),
            part.page_end.total.eq(Mux(ends, total, 0)),
        ]
        behind = Signal(SLICE_BITS)  # the first slice behind the page
        m.d.comb += behind.eq(Mux(all_fit, (group_number + 1) << 2, Cat(left, group_number)))
        m.d.sync += part.page_end.behind.eq(behind)
        with m.If(stays):
            m.d.sync += [first.eq(behind), first_before.eq(first)]

        # The latest choice for a page that begins at `bound` or later.
        latest, due_from = Signal(ChoiceLayout()), Signal(SLICE_BITS)
        bound = Signal(SLICE_BITS)
        due, popped, pops, older = Signal(), Signal(), Signal(), Signal(APPEND_BITS)
        entry = self.choices.payload
        m.d.comb += [
            bound.eq(Mux(settled, group_number << 2, first)),
            pops.eq(self.choices.valid & (entry.append == append) & due & ~popped),
            # Choices of an append before are dropped.
            older.eq(append - entry.append),
            self.choices.ready.eq(pops | ((older != 0) & ~older[-1])),
        ]
        m.d.sync += [due.eq(working & (due_from <= bound)), popped.eq(pops)]
        with m.If(pops):
            m.d.sync += [latest.eq(entry.choice), due_from.eq(due_from + BLOCK)]

        # Slices that the append may still lose.
        most = shape.page_bytes // SLICE_BYTES
        credit, slices = Signal(range(2 * shape.page_bytes)), Signal(16)
        allowed, wanted, differs = Signal(), Signal(ChoiceLayout()), Signal()
        least = [least_slices(shape.page_bytes, one, Mode.RAW) for one in (Codec.WINDOW16, Codec.WINDOW32)]
        with m.Switch(Cat(latest.mode, self.wide)):
            for mode in Mode:
                for wide in (0, 1):
                    with m.Case(wide << 2 | mode):
                        m.d.sync += allowed.eq(credit >= shape.lost_slices(bool(wide), mode))

        m.d.comb += self.restart_at.eq(page_at)
        with m.FSM(name="choice"):
            with m.State("SETTLED"):
                m.d.comb += self.job.ready.eq(~working)
                with m.If(stays):
                    m.next = "COUNT"
                with m.Elif(self.job.valid & ~working):
                    job = self.job.payload
                    shift = exact_log2(most)
                    m.d.sync += [
                        working.eq(1), settled.eq(0), append.eq(append + 1), codec.eq(job.codec),
                        total.eq((job.blocks << shift) >> (job.codec == Codec.ROUND16)),
                        first.eq(0), due_from.eq(BLOCK + DELAY), latest.eq(initial),
                        self.choice.eq(initial), credit.eq(shape.start_credit),
                        page_at.eq(at), page_group.eq(0), page_skip.eq(0),
                    ]  # fmt: skip
                    m.next = "PREPARE"

            with m.State("COUNT"):
                m.d.sync += slices.eq(first - first_before)
                m.next = "BUDGET"

            with m.State("BUDGET"):
                m.d.sync += credit.eq(credit + slices - Mux(self.wide, least[1], least[0]))
                m.next = "LIMIT"

            with m.State("LIMIT"):
                with m.If(credit > most):
                    m.d.sync += credit.eq(most)
                m.next = "WAIT"

            with m.State("WAIT"):
                m.d.sync += wanted.base.eq(latest.base)
                with m.If(~due & ~popped):
                    m.next = "CHOOSE"

            with m.State("CHOOSE"):
                m.d.sync += wanted.mode.eq(Mux(allowed, latest.mode, Mode.RAW))
                m.next = "COMPARE"

            with m.State("COMPARE"):
                window = (wanted.mode == Mode.WINDOW) | (wanted.mode == Mode.WINDOW7)
                m.d.sync += differs.eq(
                    (wanted.mode != self.choice.mode) | (window & (wanted.base != self.choice.base))
                )
                m.next = "CHANGE"

            with m.State("CHANGE"):
                m.d.sync += self.choice.eq(wanted)
                with m.If(differs):
                    m.next = "PREPARE"
                with m.Else():
                    m.d.sync += settled.eq(1)
                    m.next = "SETTLED"

            with m.State("PREPARE"):
                m.next = "RESTART"

            with m.State("RESTART"):
                m.d.comb += self.restart.eq(1)
                m.d.sync += [
                    settled.eq(1), holds.eq(0), at.eq(page_at), number.eq(page_group), skip.eq(page_skip),
                    group_number.eq(page_group), free.eq(shape.capacity),
                    planes.eq(begins_at[page_skip]),
                ]  # fmt: skip
                m.next = "SETTLED"
        with m.If(ends):
            m.d.sync += working.eq(0)

        needed = Mux(settled, Mux(holds, group_at, at), page_at)
        m.d.comb += self.retired.eq(delayed(m, needed, PART_CYCLES, "retired"))
        return m
