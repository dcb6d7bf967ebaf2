"""Workloads that measure themselves, on any Link that counts cycles."""
