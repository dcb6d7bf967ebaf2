"""The usage of a device by a training run, in words and as a document."""

from flashtrain.perf.usage import Usage
from flashtrain.spec.registers import ChannelCounter
from flashtrain.spec.streams import Retention
from flashtrain.training.flash_training import FlashRun

GB = 1e9
SECONDS_PER_DAY = 86_400


def usage_text(usage: Usage, run: FlashRun) -> str:
    """A few lines on what the device did for `run`; one where the Link has no time."""
    if not usage.clocks:
        return "no time, no write amplification, no bandwidths: they are the RTL's (--link rtl)"
    config = usage.config
    aside = "" if run.updates is None else "; updates aside, the journal counts"
    lines = [
        f"write amplification  {_number(_write_amplification(usage, run))}"
        f" (pages programmed per page appended{aside})",
        f"reads from SRAM      {_percent(usage.buffer_hit_share)} of all pages read",
        _endurance(usage),
        _bandwidth("append", _appended_bytes(run), usage, config.program_bytes_per_second, "program"),
        _bandwidth("read", usage.read_bytes, usage, config.channel_bytes_per_second, "channel"),
        "stalls, share of all clocks",
        *_shares(usage.stall_shares()),
        "buses, share of all clocks",
        *_shares(usage.bus_shares()),
    ]
    return "\n".join(lines)


def usage_document(usage: Usage, run: FlashRun) -> dict[str, object]:
    appended = _appended_bytes(run)
    bound = usage.config.program_bytes_per_second
    days = _days_of_endurance(usage)
    return {
        "clocks": usage.clocks,
        "seconds": usage.seconds,
        "appended_bytes": appended,
        "read_bytes": usage.read_bytes,
        "write_amplification": _write_amplification(usage, run),
        "append_share_of_program_bound": appended / usage.seconds / bound if usage.clocks else None,
        "read_share_of_channel_bound": usage.read_share,
        "days_of_endurance": days and {kind.name.lower(): count for kind, count in days.items()},
        "buffer_hit_share": usage.buffer_hit_share,
        "stalls": usage.stall_shares(),
        "buses": usage.bus_shares(),
        "counters": usage.centre,
        "channel_counters": usage.channels,
    }


def _appended_bytes(run: FlashRun) -> int:
    """Of whole blocks. The counter of the device has gradients and constants, too."""
    return sum(traffic.stored_bytes for traffic in run.traffic.values())


def _write_amplification(usage: Usage, run: FlashRun) -> float | None:
    """Pages programmed per page appended, without the pages of tiles that updates have programmed."""
    if not usage.clocks:
        return None
    g = usage.config.geometry
    updated = 0 if run.updates is None else run.updates.tiles * g.planes
    programmed = usage.channels[ChannelCounter.PAGES_PROGRAMMED.name] - updated
    return programmed * g.page_bytes / _appended_bytes(run)


def _bandwidth(what: str, count: int, usage: Usage, bound: float, kind: str) -> str:
    rate = count / usage.seconds
    return (
        f"{what + ' bandwidth':20} {rate / GB:.3f} GB/s over the whole run,"
        f" {rate / bound:.1%} of the {kind} bound of {bound / GB:.2f} GB/s"
    )


def _days_of_endurance(usage: Usage) -> dict[Retention, float] | None:
    """How long the cells stand what they were written, were it to go on like this; by how long data last."""
    g = usage.config.geometry
    programmed = usage.channels[ChannelCounter.PAGES_PROGRAMMED.name]
    if not programmed:
        return None
    fills = programmed / (g.channels * g.dies * g.planes * g.zones * g.pages)
    return {kind: kind.endurance / fills * usage.seconds / SECONDS_PER_DAY for kind in reversed(Retention)}


def _endurance(usage: Usage) -> str:
    days = _days_of_endurance(usage)
    if days is None:
        return "endurance            nothing was programmed"
    lasting = ", ".join(f"{count:,.1f} days if data last {kind.name.lower()}" for kind, count in days.items())
    return f"endurance            at this rate of writing, without a pause: {lasting}"


def _shares(shares: dict[str, float]) -> list[str]:
    return [f"  {share:6.1%}  {text}" for text, share in shares.items()]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
