"""Several ranks that train one network: each has an accelerator, a flash memory system, and a link.

Weights are sharded over the ranks as FSDP2 of PyTorch does it. `plan` makes the tasks of a rank, which
`flashtrain.platform.player` plays; `traffic` counts the commands of its device.
"""

from .job import RankJob, RankLayer, network_job, workload_job
from .link import RankLink
from .plan import RankChoices, Weights
from .report import RankReport, run_ranks
from .traffic import Traffic, device_traffic

__all__ = [
    "RankChoices",
    "RankJob",
    "RankLayer",
    "RankLink",
    "RankReport",
    "Traffic",
    "Weights",
    "device_traffic",
    "network_job",
    "run_ranks",
    "workload_job",
]
