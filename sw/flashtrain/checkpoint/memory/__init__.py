"""Checkpoints that free memory: jobs of training that share a node whose memory is too small for all.

`simulator` plays such a node at full scale, `runner` trains real networks on a device; both by the same
policies (`policy`).
"""
