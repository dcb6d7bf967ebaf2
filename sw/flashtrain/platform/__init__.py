"""The training platform around the storage: nodes, tensor buffers, links, and the time of an iteration.

A training command sequence, with the FLOPs of its compute steps, is played on a `Platform` (`player`). The
storage of a node is a model behind one interface (`storage`). `workloads` are those of Behemoth (FAST'21).
"""
