"""Capture of a model: one training iteration, recorded operation by operation.

`capture` is the entry. `recorder` records the iteration, `recording` is the result as data, and `sequence`
and `profile` are made from it.
"""
