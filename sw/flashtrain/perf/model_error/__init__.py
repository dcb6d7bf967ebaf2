"""The error of one Link's time against another's, over workloads on several configurations.

A *point* is a quantity of a workload on a configuration. Both Links execute the same calls; times come from
`Device.cycles` alone, so that a Link needs no trace.
"""
