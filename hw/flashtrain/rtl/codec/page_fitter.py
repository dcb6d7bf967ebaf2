"""Decides which slices each page of an append gets, and its mode and base."""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from flashtrain.spec.codec import (
    BLOCK,
    CODED,
    DELAY,
    HEADER_BYTES,
    SLICE_BYTES,
    Mode,
    least_slices,
    plane_bytes,
)
from flashtrain.spec.errors import require
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.streams import Codec

from .byte_network import delayed
from .classes import by_stride, plane_stride
from .group_classifier import COST_BITS, SizesLayout, ranges
from .group_ring import GROUP_CYCLES, READ_CYCLES
from .layouts import FIRST, SLICE_BITS, STRIDE_BITS, ChoiceLayout, EncoderShape, JobLayout
from .sampler import APPEND_BITS, ChoiceEntry

DECISION_CYCLES = 3
"""From the decision about a group to its part, whose last register is on the way to the packers."""
END_CYCLES = 3
"""From a part until both packers have the offset behind it."""
_MOST_COST = max(SLICE_BYTES + plane_bytes(codec, mode) for codec in CODED for mode in Mode)
"""Bytes of planes and payload of a slice."""


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
    - begin: the first of them; the one that is not taken, if none is.
    - planes: offset of the planes of slice 0, taken or not; those of the others follow.
    - plane_bytes: of planes of so many slices.
    - free: bytes between planes and payload, before slice 0 and behind each slice, if these are taken.
    - end: the first slice behind those that are taken; their number if all are.
    - buffer: page buffer.
    - closes: the page ends with them; `page_end` is valid.
    """

    def __init__(self, shape: EncoderShape, buffers: int):
        offset = shape.page.offset_bits
        super().__init__({
            "index": shape.index_bits,
            "classes": shape.classes,
            "wide": 1,
            "mode": Mode,
            "taken": shape.slices,
            "begin": shape.slice_bits,
            "planes": offset,
            "plane_bytes": data.ArrayLayout(STRIDE_BITS + shape.slice_bits, shape.slices + 1),
            "free": data.ArrayLayout(offset, shape.slices + 1),
            "end": bits_for(shape.slices + 1),
            "buffer": bits_for(buffers),
            "closes": 1,
            "page_end": PageEndLayout(),
        })  # fmt: skip


class WaitingGroup:
    """Registers of a group: its sizes; the slices that no page has yet, and their costs up to each."""

    def __init__(self, slices: int, name: str):
        self.slices = slices
        self.sizes = Signal(SizesLayout(slices), name=f"{name}_sizes", reset_less=True)
        self.waiting = Signal(slices, name=f"{name}_waiting", reset_less=True)
        self.begin = Signal(range(slices), name=f"{name}_begin", reset_less=True)
        self.costs = Signal(data.ArrayLayout(COST_BITS, slices), name=f"{name}_costs", reset_less=True)

    @property
    def last(self) -> Value:
        return self.sizes.last

    def costs_from(self, begin: Value, sizes) -> Value:
        """The costs of all slices from this one on, 0 before it."""
        parts = ranges(self.slices)
        rows = [
            Cat(
                sizes.costs[parts.index((first, end))] if end >= first else Const(0, COST_BITS)
                for end in range(self.slices)
            )
            for first in range(self.slices)
        ]
        return Array(rows)[begin]

    def slices_from(self, begin: Value) -> Value:
        return Array([(1 << self.slices) - (1 << first) for first in range(self.slices)])[begin]


def _first_that_does_not_fit(fits: Value) -> Value:
    """The number of slices that fit, if not all do: those up to each fit, and none behind the first that does
    not."""
    count = len(fits)
    bits = []
    for level in range(exact_log2(count)):
        step = 1 << level
        bits.append(Cat(
            fits[at - 1] & ~fits[at + step - 1] if at + step < count else fits[at - 1]
            for at in range(step, count, 2 * step)
        ).any())  # fmt: skip
    return Cat(bits)


class PageFitter(wiring.Component):
    """Takes the slices of an append in order, and closes a page where the next slice does not fit.

    A page begins with the present mode and base. Their right choice is computed while its first groups are
    under way. If it is another one, the page begins anew.

    A group is compared with the free bytes while the one before it is at work. The slices behind the end of a
    page always fit in the next one.

    Latency: 5 cycles from a classified group to its part. Throughput: a group per cycle; a page takes one
    more. With another choice it takes `CLASSIFIER_CYCLES` and some 14 cycles more.

    Members
    -------
    job : In(stream(JobLayout))
    choices : In(stream(ChoiceEntry))
    restart : Out(1), restart_at : Out      groups from this one on are needed with `choice`
    choice : Out(ChoiceLayout), wide : Out(1)   of the groups to be classified
    done : In                  groups before this pointer are classified
    read_at : Out, read : In(SizesLayout)
    classes_at : Out, classes : In(CLASSES of each slice)   the same of the group at work, a cycle later
    buffer_free : In(1)        a page buffer is free
    begins : Out(1)            pulse: a page has taken it, which begins later
    part_valid : Out(1), part : Out(PartLayout)
    retired : Out              groups before this pointer are not read any more
    """

    def __init__(self, shape: EncoderShape, buffers: int):
        self.shape = shape
        self.buffers = buffers
        require(shape.page.capacity >= shape.slices * _MOST_COST, "page_bytes", shape.page_bytes,
                "enough for any group")  # fmt: skip
        super().__init__({
            "job": In(stream.Signature(JobLayout())),
            "choices": In(stream.Signature(ChoiceEntry())),
            "restart": Out(1),
            "restart_at": Out(shape.index_bits + 1),
            "choice": Out(ChoiceLayout()),
            "wide": Out(1),
            "done": In(shape.index_bits + 1),
            "read_at": Out(shape.index_bits),
            "read": In(SizesLayout(shape.slices)),
            "classes_at": Out(shape.index_bits),
            "classes": In(shape.classes),
            "buffer_free": In(1),
            "begins": Out(1),
            "part_valid": Out(1),
            "part": Out(PartLayout(shape, buffers)),
            "retired": Out(shape.index_bits + 1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        shape, slices_of_group, slice_bits = self.shape.page, self.shape.slices, self.shape.slice_bits
        offset, number_bits = shape.offset_bits, SLICE_BITS - slice_bits

        initial = Const(FIRST, ChoiceLayout())

        # The append.
        codec, total = Signal(2), Signal(SLICE_BITS)
        working, append = Signal(), Signal(APPEND_BITS, init=-1)
        m.d.comb += self.wide.eq(codec == Codec.WINDOW32)
        stride = Signal(STRIDE_BITS)
        m.d.sync += stride.eq(plane_stride(self.choice.mode, self.wide))

        # Where the planes of a group begin, if a page begins with one of its slices.
        begins_at = Array(Signal(offset, name=f"begins_at_{number}") for number in range(slices_of_group))
        m.d.sync += [
            begin.eq(by_stride(self.choice.mode, self.wide, lambda one, at=number: HEADER_BYTES - at * one))
            for number, begin in enumerate(begins_at)
        ]

        # The group that is read, the next one, and the one at work.
        at, skip = Signal.like(self.done), Signal(slice_bits)  # the page before has `skip` slices
        following, group = (WaitingGroup(slices_of_group, name) for name in ("following", "group"))
        follows, holds = Signal(), Signal()  # they are groups
        next_at, next_number = Signal.like(at), Signal(number_bits)
        group_at, group_number = Signal.like(at), Signal(number_bits)

        # The page. Free bytes before the group and behind it; those of a page that begins with a slice of it.
        free, free_behind, planes = Signal(offset), Signal(offset), Signal(offset)
        free_anew = [Signal(offset, name=f"free_anew_{k}", reset_less=True) for k in range(slices_of_group)]
        fits = Signal(slices_of_group)  # the slices up to each
        has_buffer, has_next = Signal(), Signal()  # and the next page; taken ahead
        has_buffer_next = Signal()
        buffer = Signal(range(self.buffers))
        page_at, page_group, page_skip = Signal.like(at), Signal.like(next_number), Signal.like(skip)
        first, first_before = Signal(SLICE_BITS), Signal(SLICE_BITS)  # slice of it, and of the page before
        settled, settled_next = Signal(init=1), Signal()  # its choice is the right one
        may_move = Signal()  # the group at work, if it fits

        all_fit, stays, moves, ends, takes = (
            Signal(name=name) for name in ("all_fit", "stays", "moves", "ends", "takes")
        )
        m.d.comb += [
            all_fit.eq(fits[-1]),
            moves.eq(holds & may_move & all_fit),
            stays.eq(holds & has_buffer & ~all_fit & settled),
            ends.eq(moves & group.last),
            takes.eq(~holds | moves),
            self.begins.eq(self.buffer_free & ~has_next),
            self.read_at.eq(at),
        ]
        # The slices that the page has no room for begin with `left`.
        left = Signal(slice_bits)
        m.d.comb += left.eq(_first_that_does_not_fit(fits))

        with m.If(~follows | takes):
            m.d.sync += [
                follows.eq(at != self.done),
                following.sizes.eq(self.read),
                following.costs.eq(following.costs_from(skip, self.read)),
                following.waiting.eq(following.slices_from(skip)),
                following.begin.eq(skip),
            ]
            with m.If(at != self.done):
                m.d.sync += [at.eq(at + 1), skip.eq(0)]
        to_the_end = [ranges(slices_of_group).index((k, slices_of_group - 1)) for k in range(slices_of_group)]
        differences = [Signal(signed(offset + 1), name=f"difference_{k}") for k in range(slices_of_group)]
        m.d.comb += [one.eq(free_behind - following.costs[k]) for k, one in enumerate(differences)]
        with m.If(takes):
            m.d.sync += [
                holds.eq(follows), free.eq(free_behind), group_at.eq(next_at), group_number.eq(next_number),
                group.sizes.eq(following.sizes), group.costs.eq(following.costs),
                group.waiting.eq(following.waiting), group.begin.eq(following.begin),
                fits.eq(Cat(~difference[-1] for difference in differences)),
                *(anew.eq(shape.capacity - following.sizes.costs[to_the_end[begin]])
                  for begin, anew in enumerate(free_anew)),
            ]  # fmt: skip
            with m.If(follows):
                m.d.sync += [
                    free_behind.eq(differences[-1]), next_at.eq(next_at + 1), next_number.eq(next_number + 1)
                ]  # fmt: skip
        with m.If(self.begins):
            m.d.sync += has_next.eq(1)
        m.d.comb += has_buffer_next.eq(has_buffer)
        with m.If(~has_buffer | stays | ends):
            m.d.comb += has_buffer_next.eq(has_next)
            m.d.sync += has_next.eq(self.begins)
        m.d.comb += settled_next.eq(settled)
        m.d.sync += [
            has_buffer.eq(has_buffer_next), settled.eq(settled_next),
            # A page does not close before its choice is settled.
            may_move.eq(has_buffer_next & (settled_next | ~Mux(takes, following.last, group.last))),
        ]  # fmt: skip
        # The planes of a part are counted a cycle later, when its decision is a register.
        moved, begun, begun_at = Signal(), Signal(), Signal.like(left)
        m.d.sync += [moved.eq(moves), begun.eq(stays | ends), begun_at.eq(left)]
        with m.If(moved):
            m.d.sync += planes.eq(planes + (stride << slice_bits))
        with m.If(begun):
            m.d.sync += planes.eq(begins_at[begun_at])
        with m.If(stays | ends):
            m.d.sync += buffer.eq(Mux(buffer == self.buffers - 1, 0, buffer + 1))
        with m.If(stays):
            m.d.sync += [
                group.costs.eq(group.costs_from(left, group.sizes)),
                group.waiting.eq(group.slices_from(left)),
                group.begin.eq(left),
                free.eq(shape.capacity), free_behind.eq(Array(free_anew)[left]), fits.eq(-1),
                page_at.eq(group_at), page_group.eq(group_number), page_skip.eq(left),
            ]  # fmt: skip
            m.d.comb += settled_next.eq(0)
        with m.If(ends):
            m.d.sync += [page_at.eq(group_at + 1), page_group.eq(0), page_skip.eq(0)]

        # The part of the page that this group is: decided, and with its classes and sums.
        decided = Signal(PartLayout(self.shape, self.buffers), reset_less=True)
        decided_costs = Signal.like(group.costs)
        behind = Signal(SLICE_BITS)  # the first slice behind the page
        m.d.comb += behind.eq(Mux(all_fit, (group_number + 1) << slice_bits, Cat(left, group_number)))
        m.d.sync += [
            decided_costs.eq(group.costs),
            decided.index.eq(group_at),
            decided.wide.eq(self.wide),
            decided.mode.eq(self.choice.mode),
            decided.taken.eq(group.waiting & fits),
            decided.begin.eq(group.begin),
            *(
                decided.plane_bytes[count].eq(
                    by_stride(self.choice.mode, self.wide, lambda stride, count=count: count * stride)
                )
                for count in range(slices_of_group + 1)
            ),
            decided.free[0].eq(free),
            decided.end.eq(Mux(all_fit, slices_of_group, left)),
            decided.buffer.eq(buffer),
            decided.closes.eq(stays | ends),
            decided.page_end.codec.eq(codec),
            decided.page_end.choice.eq(self.choice),
            decided.page_end.first.eq(first),
            decided.page_end.last.eq(ends),
            decided.page_end.total.eq(Mux(ends, total, 0)),
            decided.page_end.behind.eq(behind),
        ]
        part = Signal.like(decided)
        m.d.comb += [self.classes_at.eq(group_at), self.part.eq(delayed(m, part.as_value(), 1, "part"))]
        m.d.sync += [
            part.eq(decided),
            part.classes.eq(self.classes),
            part.planes.eq(planes),
            *(part.free[1 + k].eq(decided.free[0] - decided_costs[k]) for k in range(slices_of_group)),
        ]
        parts = Signal(DECISION_CYCLES)  # there is one
        m.d.sync += parts.eq(Cat(moves | stays, parts))
        m.d.comb += self.part_valid.eq(parts[-1])
        with m.If(stays):
            m.d.sync += [first.eq(Cat(left, group_number)), first_before.eq(first)]
        with m.If(ends):
            m.d.sync += first.eq(0)

        # The latest choice for the page that is not settled, or else for one that begins with the next group.
        latest, due_from = Signal(ChoiceLayout()), Signal(SLICE_BITS)
        due, pops, older = Signal(), Signal(), Signal(APPEND_BITS)
        due_for_group, due_for_page, is_settled, works = Signal(), Signal(), Signal(), Signal()
        ours, drops = Signal(), Signal()  # the entry is of this append; it is of one before
        entry = self.choices.payload
        m.d.comb += [
            due.eq(works & Mux(is_settled, due_for_group, due_for_page)),
            older.eq(append - entry.append),
            self.choices.ready.eq(pops | drops),
        ]
        seen = self.choices.valid & ~self.choices.ready  # the same entry is there in the next cycle
        m.d.sync += [
            due_for_group.eq(due_from <= group_number << slice_bits),
            due_for_page.eq(due_from <= first),
            is_settled.eq(settled),
            works.eq(working),
            ours.eq(seen & (older == 0)),
            pops.eq(ours & due & ~pops & working),
            drops.eq(seen & (older != 0) & ~older[-1]),
        ]
        with m.If(pops):
            m.d.sync += [latest.eq(entry.choice), due_from.eq(due_from + BLOCK)]

        # Slices that the append may still lose.
        most = shape.page_bytes // SLICE_BYTES
        credit, slices = Signal(range(2 * shape.page_bytes)), Signal(16)
        lost = Signal(range(most), reset_less=True)  # by a page of the latest mode
        allowed, wanted, differs = Signal(), Signal(ChoiceLayout()), Signal()
        m.d.sync += allowed.eq(credit >= lost)
        least = [least_slices(shape.page_bytes, one, Mode.RAW) for one in (Codec.WINDOW16, Codec.WINDOW32)]
        with m.Switch(Cat(latest.mode, self.wide)):
            for mode in Mode:
                for wide in (0, 1):
                    with m.Case(wide << 2 | mode):
                        m.d.sync += lost.eq(shape.lost_slices(bool(wide), mode))

        m.d.comb += self.restart_at.eq(page_at)
        with m.FSM(name="choice"):
            with m.State("SETTLED"):
                m.d.comb += self.job.ready.eq(~working)
                with m.If(stays):
                    m.next = "COUNT"
                with m.If(self.job.valid & ~working):
                    job = self.job.payload
                    shift = exact_log2(most)
                    m.d.sync += [
                        working.eq(1), append.eq(append + 1), codec.eq(job.codec),
                        total.eq((job.blocks << shift) >> (job.codec == Codec.ROUND16)),
                        due_from.eq(BLOCK + DELAY), latest.eq(initial),
                        self.choice.eq(initial), credit.eq(shape.start_credit),
                    ]  # fmt: skip
                    m.d.comb += settled_next.eq(0)
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
                with m.If(~due):
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
                    m.d.comb += settled_next.eq(1)
                    m.next = "SETTLED"

            with m.State("PREPARE"):
                m.next = "RESTART"

            with m.State("RESTART"):
                m.d.comb += [self.restart.eq(1), settled_next.eq(1)]
                m.d.sync += [
                    holds.eq(0), follows.eq(0), at.eq(page_at), skip.eq(page_skip),
                    next_at.eq(page_at), next_number.eq(page_group), group_number.eq(page_group),
                    free_behind.eq(shape.capacity), moved.eq(0), begun.eq(1), begun_at.eq(page_skip),
                ]  # fmt: skip
                m.next = "SETTLED"
        with m.If(ends):
            m.d.sync += working.eq(0)

        needed = Mux(settled, Mux(holds, group_at, next_at), page_at)
        m.d.comb += self.retired.eq(
            delayed(m, needed, DECISION_CYCLES + READ_CYCLES - GROUP_CYCLES, "retired")
        )  # fmt: skip
        return m
