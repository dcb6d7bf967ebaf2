"""Zones: write pointers, conditions, generations, block mapping, erasing, reports."""
