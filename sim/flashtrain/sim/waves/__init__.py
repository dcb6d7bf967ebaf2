"""Waves of the whole hardware, written by the system as one Verilated model."""
