"""Iterations of Behemoth's workloads, and the assumptions that they share."""

from dataclasses import dataclass, replace
from functools import lru_cache

from flashtrain.figures.drives import drive_rates, has_drives
from flashtrain.figures.parts import Assumption, Values
from flashtrain.platform.fms import FmsModel
from flashtrain.platform.models import DriveModel, IdealModel, SsdModel
from flashtrain.platform.nodes import BEHEMOTH_FLOPS, Node, Platform
from flashtrain.platform.report import IterationReport, run_iteration
from flashtrain.platform.storage import StorageModel
from flashtrain.platform.workloads import WORKLOADS, TrafficChoices, workload_sequence
from flashtrain.platform.workloads.behemoth import GPT_PHI, T5_PHI
from flashtrain.spec import preset
from flashtrain.ssd import SsdConfig

STORAGES = ("ideal", "fms", "ssd")

PHI_GPT = Assumption(
    "phi_gpt", GPT_PHI, 0.08, 0.16, "", "share of the activations that reaches the flash; not published"
)
PHI_T5 = Assumption("phi_t5", T5_PHI, 0.027, 0.053, "", "the same for T5; not published")
WEIGHT_NODES = Assumption(
    "weight_nodes",
    4,
    1,
    8,
    "nodes",
    "not published; of 1, 2, 4 and 8 the one that comes closest to 2.05 times",
)
ACTIVATION_NODES = Assumption("activation_nodes", 1, 1, 4, "nodes", "840 TFLOPS of the slides in one node")
TFLOPS = Assumption("tflops", BEHEMOTH_FLOPS / 1e12, 420, 1680, "TFLOP/s", "example of the slides")
BUFFER = Assumption("buffer_gb", 16, 12, 64, "GB", "not published; with 16 the memory cost is as published")
BUFFER_RATE = Assumption("buffer_gb_per_s", 204.8, 102.4, 409.6, "GB/s", "eight channels of DDR4-3200")
LINK = Assumption("link_gb_per_s", 100, 50, 200, "GB/s", "between nodes, each way; not published")
STATE = Assumption("state_bytes", 0, 0, 12, "bytes", "optimizer state per parameter; not published")
SSD_APPEND = Assumption("ssd_append_share", 0.9998, 0.9, 1, "", "of its bound; SSD model, `flashtrain ssd`")
SSD_READ = Assumption("ssd_read_share", 0.895, 0.85, 1, "", "of its bound; SSD model, `flashtrain ssd`")
CORES = Assumption("firmware_cores", 1, 1, 4, "", "pages that the firmware handles at a time; not published")
COMMAND = Assumption("read_command_kib", 128, 32, 1024, "KiB", "bytes of a read command; not published")
AMPLIFICATION = Assumption(
    "write_amplification", 1, 1, 2, "", "of the SSDs; whole tensors are overwritten in order"
)

PLATFORM = (
    PHI_GPT, PHI_T5, WEIGHT_NODES, ACTIVATION_NODES, TFLOPS, BUFFER, BUFFER_RATE, LINK, STATE,
)  # fmt: skip
SHARED = (
    *PLATFORM, SSD_APPEND, SSD_READ, CORES, COMMAND, AMPLIFICATION,
)  # fmt: skip


@lru_cache(maxsize=128)
def _iteration(workload: str, phi: float, state_bytes: int, platform: Platform) -> IterationReport:
    """Many values differ in an assumption of another storage or another family, and share an iteration."""
    choices = TrafficChoices(state_bytes_per_parameter=state_bytes)
    return run_iteration(workload_sequence(WORKLOADS[workload].with_phi(phi), choices), platform)


@dataclass(frozen=True)
class Runs:
    """Iterations with some values of the assumptions `SHARED`."""

    values: Values

    def phi(self, workload: str) -> float:
        return self.values["phi_gpt" if workload.startswith("gpt") else "phi_t5"]

    def storage(self, name: str) -> StorageModel:
        v = self.values
        match name:
            case "fms":
                return FmsModel()
            case "ssd" if has_drives(v):
                return DriveModel(*drive_rates(v))
            case "ssd":
                return SsdModel(
                    array=SsdConfig.of(preset("behemoth"), firmware_cores=round(v["firmware_cores"])),
                    append_share=v["ssd_append_share"],
                    read_share=v["ssd_read_share"],
                    read_command_bytes=round(v["read_command_kib"] * 1024),
                    write_amplification=v["write_amplification"],
                )
            case _:
                return IdealModel()

    def run(self, workload: str, storage: str) -> IterationReport:
        """An iteration of the workload of that name."""
        return self.run_on(workload, self.storage(storage))

    def run_on(self, workload: str, storage: StorageModel) -> IterationReport:
        """The same with another storage in all nodes."""
        v = self.values
        node = Node(
            flops_per_second=v["tflops"] * 1e12,
            buffer_bytes=v["buffer_gb"] * 1e9,
            buffer_bytes_per_second=v["buffer_gb_per_s"] * 1e9,
            link_bytes_per_second=v["link_gb_per_s"] * 1e9,
            storage=storage,
        )
        nodes = round(v["activation_nodes"])
        activation = replace(node, flops_per_second=node.flops_per_second / nodes)
        platform = Platform(activation, node, nodes, round(v["weight_nodes"]))
        return _iteration(workload, self.phi(workload), round(v["state_bytes"]), platform)

    def seconds(self, workload: str, storage: str) -> float:
        return self.run(workload, storage).seconds

    def speedup(self, workload: str) -> float:
        """Throughput with the FMS over that with SSDs."""
        return self.seconds(workload, "ssd") / self.seconds(workload, "fms")

    def changed(self, **values: float) -> "Runs":
        return Runs({**self.values, **values})
