"""Random profiles and storages."""

import numpy as np

from flashtrain.training.offload import Phase, Profile, ProfiledOperation, SavedTensor, SharedPart, Storage

MIB = 1 << 20


def random_profile(
    rng: np.random.Generator, forward: int, tensors: int, times: tuple[float, ...] = (0.0, 0.001, 0.005, 0.02)
) -> Profile:
    """Operations of these times in seconds, tensors of up to 24 MiB with one to three uses."""
    backward = forward + int(rng.integers(0, 3))
    seconds = rng.choice(times, forward + backward)
    phases = [Phase.FORWARD] * forward + [Phase.BACKWARD] * backward
    operations = [
        ProfiledOperation(f"op{i}", float(s), phase)
        for i, (s, phase) in enumerate(zip(seconds, phases, strict=True))
    ]
    made = sorted(rng.integers(0, forward, tensors).tolist())
    saved = []
    for number, operation in enumerate(made):
        last = forward + backward - 1 - operation * backward // forward
        uses = {max(forward, last - int(rng.integers(0, 3))) for _ in range(int(rng.integers(1, 3)))}
        saved.append(
            SavedTensor(
                f"saved/{number}",
                int(rng.integers(1, 24 * MIB)),
                operation,
                tuple(sorted(uses)),
                min(forward - 1, operation + int(rng.integers(0, 3))),
                int(rng.choice([2, 4])),
                bool(rng.integers(0, 2)),
                {"window": float(rng.uniform(0.9, 4.0))} if rng.integers(0, 2) else {},
            )
        )
    return Profile("random", 1, tuple(operations), tuple(saved), int(rng.integers(0, MIB)))


def random_storage(rng: np.random.Generator, profile: Profile, shared: bool = True) -> Storage:
    """A storage of 0.5 to 8 GB/s, and memory for 40 to 90 % of the saved bytes.

    `shared`: with parts that writes and reads share, and with a write buffer.
    """
    write, read = rng.uniform(0.5e9, 8e9, 2)
    parts = (SharedPart("arrays", write * 1.1, read * 1.2),) if shared and rng.integers(0, 2) else ()
    return Storage(
        "random",
        profile.resident_bytes + int(profile.saved_bytes * rng.uniform(0.4, 0.9)),
        float(write),
        float(read),
        float(rng.uniform(1e9, 10e9)) if rng.integers(0, 2) else None,
        float(rng.choice([0.0, 20e-6])),
        float(rng.choice([0.0, 50e-6])),
        int(rng.choice([0, 16 * MIB])) if shared else 0,
        ("window",) if rng.integers(0, 2) else (),
        parts,
    )
