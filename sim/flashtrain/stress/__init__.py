"""Attacks on a device: what must never happen is tried for, at random, with a seed to see it again."""
