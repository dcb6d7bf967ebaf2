"""Theorem: a physical zone is handed out only when it is erased, and once until it is released.

Of `ZoneAllocator` with 3 physical zones. What is offered as `next` was erased successfully (or is erased from
the factory), and nothing was written to it since; nobody has it; it is offered until it is taken; and no zone
is taken again before it was released. What is to be erased nobody has, and it is not on offer. A zone of
which an erase has failed is neither offered nor erased again. When the allocator is `exhausted`, no zone is
erased or will be.

With `test_zone_writes.py` this is why no program goes to a page that is not the next one of an erased block:
a write job names the zone that was taken for its logical zone, at the write pointer, which counts from 0
after every taking. That the page sets of a zone reach a die in the order of their pages is not proved here:
the checker on the dies' pins looks after that in every simulation.

Assumes: `factory` stays, and so does `recovering` until `ready`, and it does not rise later; a zone is
released only by who has it; zones are restored only while recovering, where everything belongs to somebody
until it is restored as dirty; one answer for each erase that was asked for; streams keep what they offer
until it is taken. Unbounded, by induction.
"""

from dataclasses import replace

from amaranth.hdl import Module, Mux, Signal, Value

from flashtrain.rtl.zones.allocator import PhysicalState, ZoneAllocator
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec.presets import TINY


class ErasedAndOnce(Theorem):
    """`owned`, `blank`, `broken`: what is true of the zones, whatever the allocator thinks."""

    def state(self, m: Module, inside: Inside) -> None:
        design, count = self.design, self.design.config.geometry.zones
        owned, blank, broken = (Signal(count, name=name) for name in ("owned", "blank", "broken"))
        following, release, restored = design.next, design.release, design.restored
        erasing, erasing_zone = Signal(), Signal.like(design.erase.payload.zone)
        self._surroundings(m, owned, erasing)

        def at(bits: Value, zone) -> Value:
            return bits.bit_select(zone, 1)

        with m.If(following.valid & following.ready):
            m.d.sync += at(owned, following.payload.zone).eq(1)
            m.d.sync += at(blank, following.payload.zone).eq(0)
        with m.If(release.valid & release.ready):
            m.d.sync += at(owned, release.payload).eq(0)
        with m.If(restored.valid & restored.ready):
            m.d.sync += at(owned, restored.payload.zone).eq(~restored.payload.dirty)
        with m.If(design.erase.valid & design.erase.ready):
            m.d.sync += [erasing.eq(1), erasing_zone.eq(design.erase.payload.zone)]
            m.d.sync += at(blank, design.erase.payload.zone).eq(0)
        with m.If(design.erased.valid & design.erased.ready):
            m.d.sync += erasing.eq(0)
            m.d.sync += at(blank, erasing_zone).eq(~design.erased.payload.failed)
            m.d.sync += at(broken, erasing_zone).eq(design.erased.payload.failed)
        with m.If(~design.ready):
            m.d.sync += owned.eq(Mux(design.recovering, -1, 0))
            m.d.sync += blank.eq(Mux(design.factory & ~design.recovering, -1, 0))

        offered = following.payload.zone
        with m.If(following.valid):
            self.claim(m, offered < count)
            self.claim(m, at(blank & ~owned & ~broken, offered))
        refused, before = Signal(), Signal.like(offered)
        m.d.sync += [refused.eq(following.valid & ~following.ready), before.eq(offered)]
        self.claim(m, ~refused | (following.valid & (offered == before)))
        with m.If(design.erase.valid):
            self.claim(m, design.erase.payload.zone < count)
            self.claim(m, ~at(owned | broken, design.erase.payload.zone))
            self.claim(m, ~following.valid | (offered != design.erase.payload.zone))
        with m.If(design.exhausted):
            self.claim(m, ~following.valid & ~erasing & ~design.erase.valid & ~(blank & ~owned).any())
            self.claim(m, (owned | broken).all())
        erased_once = Signal()
        m.d.sync += erased_once.eq(erased_once | design.erases)
        self.witness(m, erased_once & following.valid & broken.any())

        self._lemmas(m, inside, owned, blank, broken, erasing, erasing_zone)

    def _surroundings(self, m: Module, owned, erasing) -> None:
        design, count = self.design, self.design.config.geometry.zones
        release, restored, erased = design.release, design.restored, design.erased
        self.assume(m, design.factory == self.some(m, 1, "factory"))
        recovered, was_ready, began = Signal(), Signal(), Signal()
        m.d.sync += [recovered.eq(design.recovering), was_ready.eq(design.ready), began.eq(1)]
        self.assume(m, ~began | (recovered == design.recovering) | was_ready)
        self.assume(m, ~began | recovered | ~design.recovering)
        self.assume(m, ~restored.valid | (design.recovering & (restored.payload.zone < count)))
        self.assume(m, ~release.valid | ((release.payload < count) & owned.bit_select(release.payload, 1)))
        self.assume(m, ~erased.valid | erasing)
        for stream in (release, restored, erased):
            self.keeps_offers(m, stream)
        # Who has a zone does not release it while it is being restored.
        self.assume(m, ~(release.valid & restored.valid) | (release.payload != restored.payload.zone))
        self.lemma(m, began | ~design.ready)
        self.lemma(m, began | ~recovered)

    def _lemmas(self, m: Module, inside: Inside, owned, blank, broken, erasing, erasing_zone) -> None:
        """What the allocator's table says is true."""
        design, count = self.design, self.design.config.geometry.zones
        following = design.next
        candidate, scanned, scanning = inside["erasing_candidate"], inside["scanned"], inside["scanning"]
        best_erased, best_dirty = inside["best_erased"], inside["best_dirty"]
        seen = Value.cast(inside["state"].data)
        states = [Value.cast(inside.word(m, "states", zone)) for zone in range(count)]
        filling = inside.ongoing("FILL")
        recovery = inside.ongoing("RECOVER", "RESTORE")
        choosing = inside.ongoing("SCAN", "CHOOSE_NEXT", "CHOOSE_ERASE")
        cursor = inside["cursor"]

        self.lemma(m, inside.legal())
        self.lemma(m, design.ready == ~filling)
        self.lemma(m, cursor <= count)
        self.lemma(m, ~filling | (cursor < count))
        self.lemma(m, ~(filling | recovery) | ~(following.valid | inside["erasing"] | scanning))
        self.lemma(m, ~scanning | ((scanned < count) & choosing))
        self.lemma(m, inside["erasing"] == (erasing | design.erase.valid))
        self.lemma(m, ~(erasing & design.erase.valid))
        self.lemma(m, ~erasing | (erasing_zone == candidate.zone))
        self.lemma(m, ~inside["erasing"] | (candidate.zone < count))
        self.lemma(m, ~following.valid | (following.payload.zone < count))
        for zone, state in enumerate(states):
            on_offer = following.valid & (following.payload.zone == zone)
            being_erased = inside["erasing"] & (candidate.zone == zone)
            with m.If(filling & (zone < cursor)):
                expected = Mux(design.factory, PhysicalState.ERASED.value, PhysicalState.DIRTY.value)
                self.lemma(m, state == Mux(design.recovering, PhysicalState.USED.value, expected))
                self.lemma(m, owned[zone] == design.recovering)
                self.lemma(m, blank[zone] == (design.factory & ~design.recovering))
            self.lemma(m, ~filling | ~broken[zone])
            self.lemma(m, state <= max(kind.value for kind in PhysicalState))
            with m.If(~filling):
                self.lemma(m, (state == PhysicalState.ERASED.value) == (blank[zone] & ~on_offer))
                self.lemma(m, (state == PhysicalState.ERASING.value) == being_erased)
                self.lemma(m, (state == PhysicalState.USED.value) == (owned[zone] | on_offer))
                self.lemma(m, (state == PhysicalState.BAD.value) == broken[zone])
                self.lemma(m, ~on_offer | (blank[zone] & ~owned[zone]))
                self.lemma(m, ~(blank[zone] & owned[zone]))
            self.lemma(
                m, ~recovery | (state == PhysicalState.USED.value) | (state == PhysicalState.DIRTY.value)
            )
            for kind, best, until in (
                (PhysicalState.ERASED, best_erased, inside.ongoing("SCAN", "CHOOSE_NEXT")),
                (PhysicalState.DIRTY, best_dirty, choosing),
            ):
                is_kind = state == kind.value
                self.lemma(m, ~(scanning & (scanned == zone) & (seen == kind.value)) | is_kind)
                stays = until & best.found & (best.zone == zone)
                self.lemma(m, ~stays | is_kind)
            with m.If(inside.ongoing("RESTORE") & (design.restored.payload.zone == zone)):
                self.lemma(m, seen == state)
        for best in (best_erased, best_dirty):
            self.lemma(m, ~(choosing & best.found) | (best.zone < count))
        self.lemma(m, ~inside.ongoing("RESTORE") | design.restored.valid)
        with m.If(~filling):
            self.lemma(
                m, inside["dirty_count"] == sum(state == PhysicalState.DIRTY.value for state in states)
            )
            self.lemma(
                m, inside["erased_count"] == sum(state == PhysicalState.ERASED.value for state in states)
            )
        with m.If(filling & (cursor != 0)):
            all_zones = Mux(design.recovering, 0, count)
            self.lemma(m, inside["dirty_count"] == Mux(design.factory, 0, all_zones))
            self.lemma(m, inside["erased_count"] == Mux(design.factory, all_zones, 0))
        with m.If(filling & (cursor == 0)):
            self.lemma(m, (inside["dirty_count"] == 0) & (inside["erased_count"] == 0))


SMALL_WEAR = ("WEAR_BITS = PageIdentity.wear.width", "WEAR_BITS = 1")
"""The theorem says nothing of wear, which only decides between zones: let it wrap."""


def allocator(*changes: tuple[str, str], zones: int = 2) -> ZoneAllocator:
    """An allocator of so few zones."""
    config = replace(TINY, name="proof", geometry=replace(TINY.geometry, blocks=zones))
    return planted(ZoneAllocator, SMALL_WEAR, *changes)(config)


def test_holds() -> None:
    prove(ErasedAndOnce(allocator(zones=3)), depth=3)


def test_zones_go_round() -> None:
    reach(ErasedAndOnce(allocator()), depth=32)


def test_offer_not_marked() -> None:
    """What is on offer stays ERASED in the table: it is offered again."""
    change = ("mark(best_erased.zone, PhysicalState.USED)", "mark(best_erased.zone, PhysicalState.ERASED)")
    refute(ErasedAndOnce(allocator(change)), depth=16)
