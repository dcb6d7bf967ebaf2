"""How fast a device is, from its own counters: usage of a run, and benchmarks against the bounds."""
