"""The health of a device, and the result of a scrub, as text."""

from itertools import groupby
from typing import Any

from flashtrain.inspection import Scrub
from flashtrain.inspection.health import Health
from flashtrain.inspection.wear import Wear

from .console import table
from .device_values import percent, wear_text

_MOST_DIES = 16
"""Dies up to which the text has a line for each; the document has all planes."""
_MOST_BAD = 20


def health_text(health: Health) -> str:
    classes = ", ".join(f"{percent(used)} as {name}" for name, used in health.class_used.items())
    rows = [
        ("percentage used", percent(health.percentage_used)),
        ("most worn block", classes),
        ("erases", wear_text(health.erases)),
        ("physical zones", _zones(health)),
        ("spare blocks", _spares(health)),
        ("bad blocks", _bad(health)),
        (
            "dies that hang",
            ", ".join(f"channel {d['channel']} die {d['die']}" for d in health.hung_dies) or "0",
        ),
        ("pages cut short", str(health.torn_pages)),
        ("reads of a block", f"{health.most_reads:,} at most since its erase"),
        (
            "expired data",
            _expired(health),
        ),
    ]
    parts = ["\n".join(f"{name:<18}{value}" for name, value in rows), _dies(health)]
    if health.bad_blocks:
        shown = [
            (
                f"channel {one.channel} die {one.die} plane {one.plane} block {one.block}",
                ", ".join(one.flags), "-" if one.replacement is None else str(one.replacement),
                str(one.erases),
            )
            for one in health.bad_blocks[:_MOST_BAD]
        ]  # fmt: skip
        left = len(health.bad_blocks) - len(shown)
        parts.append(table(("block", "condition", "replaced by", "erases"), shown, left=2))
        if left:
            parts[-1] += f"\nand {left} more"
    return "\n\n".join(parts)


def scrub_text(scrub: Scrub) -> str:
    columns = ("scrub", "zone", "pages", "changed", "torn", "corrected", "bits", "most", "retries", "lost")
    rows = [
        (one.stream or "stale", "-" if one.zone is None else str(one.zone), *_counts(one.pages))
        for one in scrub.zones
    ]
    return table(columns, [*rows, ("all", "", *_counts(scrub.all))], left=1)


def _counts(count: Any) -> tuple[str, ...]:
    return tuple(
        f"{number:,}"
        for number in (
            count.read, count.changed, count.torn, count.corrected_pages, count.corrected_bits,
            count.most_corrected, count.retries, count.uncorrectable,
        )
    )  # fmt: skip


def verdict(health: Health) -> str:
    faults = [
        f"{len(health.bad_blocks)} bad blocks" if health.bad_blocks else "",
        f"{len(health.hung_dies)} dies that hang" if health.hung_dies else "",
        f"{health.torn_pages} pages cut short" if health.torn_pages else "",
        f"expired data in {', '.join(health.expired_streams)}" if health.expired_streams else "",
    ]
    return f"{percent(health.percentage_used)} of the endurance used; " + (
        ", ".join(filter(None, faults)) or "no faults"
    )


def _expired(health: Health) -> str:
    return "-" if health.expired_streams is None else ", ".join(health.expired_streams) or "none"


def _zones(health: Health) -> str:
    if health.free_zones is None:
        return f"{health.zones}"
    return f"{health.zones}: {health.free_zones} free, {health.stale_zones} stale"


def _spares(health: Health) -> str:
    if not health.spares:
        return "none on this device"
    if health.spares_in_use is None:
        return f"{health.spares}"
    return (
        f"{health.spares_in_use} of {health.spares} in use, {health.least_spares_left} left on the plane"
        " with the fewest"
    )


def _bad(health: Health) -> str:
    flags = [flag for one in health.bad_blocks for flag in one.flags]
    return f"{len(health.bad_blocks)}" + "".join(
        f", {flags.count(flag)} {flag}" for flag in ("MARKED", "BROKEN", "STUCK", "CUT") if flag in flags
    )


def _dies(health: Health) -> str:
    dies = []
    for (channel, die), run in groupby(health.planes, lambda one: (one.channel, one.die)):
        planes = [one.erases for one in run]
        wear = Wear(
            min(one.min for one in planes),
            sum(one.mean for one in planes) / len(planes),
            max(one.max for one in planes),
        )
        by_plane = " ".join(f"{one.mean:.1f}" for one in planes)
        bad = sum(one.bad_blocks for one in health.planes if (one.channel, one.die) == (channel, die))
        dies.append((wear, (str(channel), str(die), wear_text(wear), by_plane, str(bad))))
    few = len(dies) <= _MOST_DIES
    shown = dies if few else sorted(dies, key=lambda one: -one[0].mean)[:_MOST_DIES]
    text = table(("channel", "die", "erases", "mean of each plane", "bad"), [row for _, row in shown], left=2)
    return text if few else f"{text}\nthe most worn of {len(dies)} dies"
