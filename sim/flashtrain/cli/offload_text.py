"""Plans of offloading as text."""

from flashtrain.training.offload import Plan, Profile


def plan_text(plan: Plan, profile: Profile) -> str:
    """A few lines on what a plan does and costs."""
    storage = plan.storage
    codecs = ", ".join(sorted({tensor.codec for tensor in plan.tensors})) or "-"
    barrier = "; the backward pass waits for all writes" if plan.barrier else ""
    return "\n".join([
        f"{plan.model}, batch {profile.batch}: {len(profile.operations)} operations, {len(profile.tensors)}"
        f" saved tensors of {gigabytes(profile.saved_bytes)}, resident {gigabytes(profile.resident_bytes)}",
        f"storage    {storage.name}: writes {storage.write_bytes_per_second / 1e9:.3f} GB/s, reads"
        f" {storage.read_bytes_per_second / 1e9:.3f} GB/s",
        f"schedule   {plan.schedule}{barrier}",
        f"offloaded  {len(plan.tensors)} tensors of {gigabytes(plan.offloaded_bytes)}, stored in"
        f" {gigabytes(plan.stored_bytes)} ({codecs})",
        f"memory     {gigabytes(plan.peak_bytes)} at most, of {gigabytes(storage.memory_bytes)}",
        f"iteration  {seconds_text(plan.seconds)}; {speed(profile, plan.seconds):.1%} of the speed with"
        f" unlimited memory ({seconds_text(profile.seconds)})",
    ])  # fmt: skip


def speed(profile: Profile, seconds: float) -> float:
    """The share of the speed with unlimited memory; 1 if operations take no time."""
    return profile.seconds / seconds if seconds else 1.0


def gigabytes(size: float) -> str:
    """Bytes in the unit that suits them, decimal as rates are."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:.2f} {unit}"
    return f"{size / 1e3:.2f} kB"


def seconds_text(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e6:.4g} µs"
