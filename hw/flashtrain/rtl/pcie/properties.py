"""Properties of the NVMe controller, from CAP to CRTO."""

from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.pcie import (
    MAX_PAGE_EXPONENT,
    PAGE_BITS,
    READY_TIMEOUT,
    VERSION,
    AdminSizes,
    Configuration,
    Property,
    capabilities,
)

from .layouts import ADDRESS_BITS, DWORD_BITS, OFFSET_BITS, PAGE_EXPONENT_BITS, AdminQueues, bits_of


class Properties(wiring.Component):
    """Registers of `spec.pcie.Property`: as `flashtrain.nvme.pcie.Function` answers, dword by dword.

    CC.EN = 1 with values that CAP does not offer, or without admin queues, sets CSTS.CFS. So does `fail`.
    CC.EN = 0 clears it. CSTS.RDY follows `running` while CC.EN has the same value. The controller is not
    enabled anew before `running` has fallen.

    Latency: a write takes effect in the next cycle; `value` follows `offset` combinationally.

    Members
    -------
    offset : In     a dword of the BAR
    value : Out(32)
    write : In(1)   pulse: `data` goes to `offset`
    data : In(32)
    enabled : Out(1)           queues may be used
    page_exponent : Out(3)     CC.MPS
    weighted : Out(1)          CC.AMS
    admin : Out(AdminQueues)   constant while enabled
    running : In(1)            rises when queues are in use, falls when nothing of them is under way
    fail : In(1)               pulse: an error that no completion can report
    fault : In(1)              CSTS.CFS, whatever the host does
    shut_down : Out(1)         the host waits for an orderly end: CSTS.SHST is 01b
    ended : In(1)              pulse: the end is recorded
    """

    def __init__(self, entries: int):
        self.entries = entries
        super().__init__({
            "offset": In(OFFSET_BITS),
            "value": Out(DWORD_BITS),
            "write": In(1),
            "data": In(DWORD_BITS),
            "enabled": Out(1),
            "page_exponent": Out(PAGE_EXPONENT_BITS),
            "weighted": Out(1),
            "admin": Out(AdminQueues()),
            "running": In(1),
            "fail": In(1),
            "fault": In(1),
            "shut_down": Out(1),
            "ended": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        control, mask, sizes = Signal(DWORD_BITS), Signal(DWORD_BITS), Signal(DWORD_BITS)
        submissions, completions = Signal(ADDRESS_BITS - PAGE_BITS), Signal(ADDRESS_BITS - PAGE_BITS)
        # After a reset, too, the controller waits until what is behind it is at rest.
        refused, ready, done, draining = Signal(), Signal(), Signal(), Signal(init=1)
        writes = {offset: self.write & (self.offset == offset // 4) for offset in Property}
        enable = control[0]
        possible = self._is_possible() & self._has_admin_queues(m, sizes, submissions | completions)

        m.d.comb += [
            self.enabled.eq(enable & ~refused & ~draining),
            self.page_exponent.eq(bits_of(control, Configuration.page_exponent)),
            self.weighted.eq(bits_of(control, Configuration.arbitration) == Configuration.WEIGHTED),
            self.admin.sq_base.eq(submissions << PAGE_BITS),
            self.admin.sq_size.eq(bits_of(sizes, AdminSizes.submissions)),
            self.admin.cq_base.eq(completions << PAGE_BITS),
            self.admin.cq_size.eq(bits_of(sizes, AdminSizes.completions)),
        ]
        m.d.sync += draining.eq(draining & self.running)
        with m.If(enable == self.running):
            m.d.sync += ready.eq(self.running & (ready | self.enabled))
        with m.If(self.fail & enable):
            m.d.sync += refused.eq(1)
        with m.If(self.ended & self.shut_down):
            m.d.sync += [self.shut_down.eq(0), done.eq(1)]
        with m.If(writes[Property.CONFIGURATION]):
            m.d.sync += control.eq(self.data)
            with m.If(enable != self.data[0]):
                m.d.sync += [refused.eq(self.data[0] & ~possible), self.shut_down.eq(0), done.eq(0)]
                with m.If(enable):
                    m.d.sync += draining.eq(self.running)
                with m.Else():
                    m.d.sync += ready.eq(0)
            shutdown = Configuration.shutdown
            with m.If((bits_of(self.data, shutdown) != 0) & (bits_of(control, shutdown) == 0)):
                m.d.sync += [self.shut_down.eq(1), done.eq(0)]
        with m.If(writes[Property.MASK_SET]):
            m.d.sync += mask.eq(mask | self.data)
        with m.If(writes[Property.MASK_CLEAR]):
            m.d.sync += mask.eq(mask & ~self.data)
        self._admin_queues(m, ~enable, sizes, submissions, completions)

        offered, status = capabilities(self.entries, MAX_PAGE_EXPONENT, weighted=True), Signal(4)
        m.d.comb += status.eq(Cat(ready, refused | self.fault, self.shut_down, done))
        values = {
            Property.CAPABILITIES: Const(offered & 0xFFFF_FFFF, DWORD_BITS),
            Property.CAPABILITIES + 4: Const(offered >> DWORD_BITS, DWORD_BITS),
            Property.VERSION: Const(VERSION, DWORD_BITS),
            Property.MASK_SET: mask,
            Property.MASK_CLEAR: mask,
            Property.CONFIGURATION: control,
            Property.STATUS: status,
            Property.ADMIN_SIZES: sizes,
            Property.ADMIN_SUBMISSIONS: self.admin.sq_base[:DWORD_BITS],
            Property.ADMIN_SUBMISSIONS + 4: self.admin.sq_base[DWORD_BITS:],
            Property.ADMIN_COMPLETIONS: self.admin.cq_base[:DWORD_BITS],
            Property.ADMIN_COMPLETIONS + 4: self.admin.cq_base[DWORD_BITS:],
            Property.READY_TIMEOUTS: Const(READY_TIMEOUT, DWORD_BITS),
        }
        words = [Mux(self.offset == offset // 4, value, 0) for offset, value in values.items()]
        m.d.comb += self.value.eq(reduce(or_, words))
        return m

    def _is_possible(self):
        """`spec.pcie.is_possible` of the value that is written to CC."""
        fields, data = Configuration, self.data
        sets, exponents = (fields.NVM_ALONE, fields.ALL_SETS), fields.SUBMISSION_EXPONENTS
        return (
            Cat(bits_of(data, fields.command_set) == one for one in sets).any()
            & (bits_of(data, fields.page_exponent) <= MAX_PAGE_EXPONENT)
            & (bits_of(data, fields.arbitration) <= fields.WEIGHTED)
            & Cat(bits_of(data, fields.submission_exponent) == one for one in exponents).any()
            & Cat(
                bits_of(data, fields.completion_exponent) == one for one in fields.COMPLETION_EXPONENTS
            ).any()
            & ~bits_of(data, fields.ready_without_media)
        )

    def _has_admin_queues(self, m: Module, sizes, pages):
        """`spec.pcie.has_admin_queues`, of registers that were written two cycles ago or earlier."""
        counted, begun = Signal(), Signal(MAX_PAGE_EXPONENT)
        m.d.sync += [
            counted.eq(
                (bits_of(sizes, AdminSizes.submissions) != 0) & (bits_of(sizes, AdminSizes.completions) != 0)
            ),
            begun.eq(pages),
        ]
        exponent = bits_of(self.data, Configuration.page_exponent)
        beyond = Cat(begun[bit] & (exponent > bit) for bit in range(MAX_PAGE_EXPONENT))
        return counted & ~beyond.any()

    def _admin_queues(self, m: Module, may_change, sizes, submissions, completions):
        """AQA, ASQ and ACQ, which a host changes while the controller is disabled."""
        low, high = slice(0, DWORD_BITS - PAGE_BITS), slice(DWORD_BITS - PAGE_BITS, None)
        with m.If(self.write & may_change):
            with m.Switch(self.offset):
                with m.Case(Property.ADMIN_SIZES // 4):
                    m.d.sync += sizes.eq(self.data & AdminSizes.MASK)
                for base, at in (
                    (submissions, Property.ADMIN_SUBMISSIONS), (completions, Property.ADMIN_COMPLETIONS),
                ):  # fmt: skip
                    with m.Case(at // 4):
                        m.d.sync += base[low].eq(self.data[PAGE_BITS:])
                    with m.Case(at // 4 + 1):
                        m.d.sync += base[high].eq(self.data)
