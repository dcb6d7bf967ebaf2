"""The usage of a device by a training run, as text and as a document."""

from flashtrain.perf.usage import Usage
from flashtrain.spec.registers import ChannelCounter
from flashtrain.spec.streams import Retention
from flashtrain.training.flash_training import FlashRun

from .console import byte_count

GB = 1e9
SECONDS_PER_DAY = 86_400


def usage_text(usage: Usage, run: FlashRun) -> str:
    """A few lines on the work of the device for `run`; one line where the Link has no time."""
    if not usage.cycles:
        return "no time, no write amplification, no bandwidths: they are the RTL's (--link rtl)"
    config = usage.config
    lines = [
        _amplification(usage, run),
        f"reads from SRAM      {_percent(usage.buffer_hit_share)} of all pages read",
        _endurance(usage),
        _bandwidth("append", _appended_bytes(run), usage, config.program_bytes_per_second, "program"),
        _bandwidth("read", usage.read_bytes, usage, config.channel_bytes_per_second, "channel"),
        "stalls, share of all cycles",
        *_shares(usage.stall_shares()),
        "buses, share of all cycles",
        *_shares(usage.bus_shares()),
    ]
    return "\n".join(lines)


def usage_document(usage: Usage, run: FlashRun) -> dict[str, object]:
    appended = _appended_bytes(run)
    bound = usage.config.program_bytes_per_second
    days = _days_of_endurance(usage)
    return {
        "cycles": usage.cycles,
        "seconds": usage.seconds,
        "appended_bytes": appended,
        "read_bytes": usage.read_bytes,
        "write_amplification": _write_amplification(usage, run),
        "programmed_per_appended": _programmed_per_appended(usage, run),
        "append_share_of_program_bound": appended / usage.seconds / bound if usage.cycles else None,
        "read_share_of_channel_bound": usage.read_share,
        "days_of_endurance": days and {kind.name.lower(): count for kind, count in days.items()},
        "buffer_hit_share": usage.buffer_hit_share,
        "stalls": usage.stall_shares(),
        "buses": usage.bus_shares(),
        "counters": usage.front_end,
        "channel_counters": usage.channels,
    }


def _appended_bytes(run: FlashRun) -> int:
    """Of whole blocks. The counter of the device has gradients and constants, too."""
    return sum(traffic.stored_bytes for traffic in run.traffic.values())


def _programmed_per_appended(usage: Usage, run: FlashRun) -> float | None:
    """Pages programmed per page appended, without the pages of tiles that updates have programmed."""
    appended = _appended_bytes(run)
    if not usage.cycles or not appended:
        return None
    g = usage.config.geometry
    updated = 0 if run.updates is None else run.updates.tiles * g.planes
    programmed = usage.channels[ChannelCounter.PAGES_PROGRAMMED.name] - updated
    return programmed * g.page_bytes / appended


def _write_amplification(usage: Usage, run: FlashRun) -> float | None:
    """None where it has no meaning: where pages were never programmed."""
    ratio = _programmed_per_appended(usage, run)
    return None if ratio is None or ratio < 1 else ratio


def _amplification(usage: Usage, run: FlashRun) -> str:
    ratio = _programmed_per_appended(usage, run)
    if ratio is None:
        return "write amplification  n/a: nothing was appended"
    if ratio < 1:
        return (
            f"write amplification  n/a: only {ratio:.1%} of the appended pages were programmed; the others"
            " were dropped from SRAM, or are still there"
        )
    aside = "" if run.updates is None else "; updates aside, the journal counts"
    return f"write amplification  {ratio:.3f} (pages programmed per page appended{aside})"


def _bandwidth(what: str, count: int, usage: Usage, bound: float, kind: str) -> str:
    rate = count / usage.seconds
    return (
        f"{what + ' bandwidth':20} {rate / GB:.3f} GB/s over the whole run,"
        f" {rate / bound:.1%} of the {kind} bound of {bound / GB:.2f} GB/s"
    )


def _days_of_endurance(usage: Usage) -> dict[Retention, float] | None:
    """The time until the rated program/erase cycles are used up at this rate, by retention class.

    The cycles of an average block are its erases. Blocks that were erased before the run need one as well. So
    the cycles are at least the times that the run has filled all pages.
    """
    g, channels = usage.config.geometry, usage.channels
    zones = g.channels * g.dies * g.zones
    fills = channels[ChannelCounter.PAGES_PROGRAMMED.name] / (zones * g.planes * g.pages)
    cycles = max(fills, channels[ChannelCounter.ERASES.name] / zones)
    if not cycles:
        return None
    return {kind: kind.endurance / cycles * usage.seconds / SECONDS_PER_DAY for kind in reversed(Retention)}


def _endurance(usage: Usage) -> str:
    days = _days_of_endurance(usage)
    if days is None:
        return "endurance            n/a: nothing was programmed or erased"
    classes = ", ".join(
        f"{_duration(count)} in the {kind.name.lower()} retention class" for kind, count in days.items()
    )
    size = byte_count(usage.config.geometry.capacity_bytes)
    return f"endurance            of {size} at this rate, without a pause: {classes}"


def _duration(days: float) -> str:
    """In the unit that suits it."""
    for unit, per_day in (("days", 1), ("hours", 24), ("minutes", 24 * 60)):
        if days * per_day >= 1:
            return f"{days * per_day:,.1f} {unit}"
    return f"{days * SECONDS_PER_DAY:,.1f} seconds"


def _shares(shares: dict[str, float]) -> list[str]:
    return [f"  {share:6.1%}  {text}" for text, share in shares.items()]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
