"""The usage of a device in words and as a document."""

from flashtrain.perf.usage import Usage

GB = 1e9


def usage_text(usage: Usage) -> str:
    """A few lines; one where the Link has no time."""
    if not usage.clocks:
        return "no time, no write amplification, no bandwidths: they are the RTL's (--link rtl)"
    config = usage.config
    lines = [
        f"write amplification  {_number(usage.write_amplification)} (pages programmed per page appended)",
        f"reads from SRAM      {_percent(usage.buffer_hit_share)} of all pages read",
        _bandwidth("append", usage.appended_bytes, usage, config.program_bytes_per_second, "program"),
        _bandwidth("read", usage.read_bytes, usage, config.channel_bytes_per_second, "channel"),
        "stalls, share of all clocks",
        *_shares(usage.stall_shares()),
        "buses, share of all clocks",
        *_shares(usage.bus_shares()),
    ]
    return "\n".join(lines)


def usage_document(usage: Usage) -> dict[str, object]:
    return {
        "clocks": usage.clocks,
        "seconds": usage.seconds,
        "appended_bytes": usage.appended_bytes,
        "read_bytes": usage.read_bytes,
        "write_amplification": usage.write_amplification,
        "append_share_of_program_bound": usage.append_share,
        "read_share_of_channel_bound": usage.read_share,
        "buffer_hit_share": usage.buffer_hit_share,
        "stalls": usage.stall_shares(),
        "buses": usage.bus_shares(),
        "counters": usage.centre,
        "channel_counters": usage.channels,
    }


def _bandwidth(what: str, count: int, usage: Usage, bound: float, kind: str) -> str:
    rate = count / usage.seconds
    return (
        f"{what + ' bandwidth':20} {rate / GB:.3f} GB/s over the whole run,"
        f" {rate / bound:.1%} of the {kind} bound of {bound / GB:.2f} GB/s"
    )


def _shares(shares: dict[str, float]) -> list[str]:
    return [f"  {share:6.1%}  {text}" for text, share in shares.items()]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
