"""The workloads of Behemoth (FAST'21), and their training command sequences."""

from flashtrain.platform.workloads.behemoth import WORKLOADS, behemoth_workload
from flashtrain.platform.workloads.sequence import TrafficChoices, workload_sequence
from flashtrain.platform.workloads.workload import Workload

__all__ = ["WORKLOADS", "TrafficChoices", "Workload", "behemoth_workload", "workload_sequence"]
