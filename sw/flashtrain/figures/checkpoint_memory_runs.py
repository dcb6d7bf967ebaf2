"""The poster's node and nine models as jobs that share memory, for the figure of freed memory."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import inf

import numpy as np

from flashtrain.checkpoint.memory.backing_store import BackingStore
from flashtrain.checkpoint.memory.checkpoint_waiting import CheckpointWaiting
from flashtrain.checkpoint.memory.errors import JobTooLarge
from flashtrain.checkpoint.memory.footprint import Footprint
from flashtrain.checkpoint.memory.job import Job
from flashtrain.checkpoint.memory.keep_resident import KeepResident
from flashtrain.checkpoint.memory.node import Node
from flashtrain.checkpoint.memory.one_after_the_other import OneAfterTheOther
from flashtrain.checkpoint.memory.policy import MemoryPolicy
from flashtrain.checkpoint.memory.report import NodeReport
from flashtrain.checkpoint.memory.simulator import simulate
from flashtrain.checkpoint.memory.swap import Swap
from flashtrain.checkpoint.memory.workload import with_waits
from flashtrain.checkpoint.models.training_model import MODELS
from flashtrain.figures.checkpoint_platform import GB, MB, SYSTEMS, TRAINING, Machine
from flashtrain.figures.errors import FigureError
from flashtrain.figures.parts import Assumption, Values
from flashtrain.perf.read_bound import read_bound
from flashtrain.platform.models import append_bound
from flashtrain.spec import preset

PAGE_BYTES = 4096
PRESET = "behemoth"
LANGUAGE = ("bert-base", "bert-large", "gpt2", "gpt-neo-1.3b")
STATE_PAIR, CACHE_PAIR, MIXED_PAIR = "gpt-neo-1.3b, nothing cached", "vgg11", "gpt-neo-1.3b"
PAIRS = (STATE_PAIR, CACHE_PAIR, MIXED_PAIR)
"""Pairs of equal jobs that share the memory of little more than one.

A switch moves the whole state of the first, and the whole data set of the second. The third is the first with
its text cached, of which a quantum reads little.
"""

SSD, FMS, DIES = "SSD", "FMS over PCIe", "FMS, state on the dies"
STORES = (SSD, FMS, DIES)
KEEP, SERIAL, SWAP, OURS = KeepResident(), OneAfterTheOther(), Swap(), CheckpointWaiting()
POLICIES: Mapping[str, MemoryPolicy] = {
    "keep all resident": KEEP,
    "one after the other": SERIAL,
    "swap": SWAP,
    "checkpoint those that wait": OURS,
}
SEED = 1

ASSUMPTIONS = (
    Assumption("dram_gb", 96, 72, 256, "GB", "DRAM of the tables and of the timeline; the poster's has 256"),
    Assumption("accelerators", 2, 1, 4, "", "the poster's table: two RTX 3090"),
    *TRAINING,
    Assumption("job_hours", 4, 1, 12, "h", "of computing, of each job; not published"),
    Assumption("text_gb", 16, 4, 64, "GB", "text that a language model caches: corpora of BERT, as bytes"),
    Assumption("images_gb", 30, 10, 60, "GB", "images that a classifier caches: a fifth of ImageNet"),
    Assumption("buffers_gb", 1, 0.25, 4, "GB", "pinned buffers of a job; an assumption"),
    Assumption("image_kb", 110, 50, 600, "kB", "an image as it is cached; JPEG of ImageNet"),
    Assumption("quantum_minutes", 30, 5, 120, "min", "computing of a job before others get its accelerator"),
    Assumption("wait_share", 0.15, 0, 0.4, "", "share of waits for data in a job's own time; an assumption"),
    Assumption("wait_minutes", 10, 2, 30, "min", "mean of their lengths, which are exponential"),
    Assumption("planned", 0.5, 0, 1, "", "share of the waits whose end is known; an assumption"),
    Assumption("room", 1.1, 1.05, 1.5, "jobs", "DRAM that two jobs share; the aim is 1.1"),
    *(each for each in SYSTEMS if each.name in ("ssd_write_mb", "ssd_read_mb", "pcie_gb")),
    Assumption("ssd_fault_us", 120, 80, 200, "µs", "read of 4 KiB from it, alone; an assumption"),
    Assumption("ssd_gb", 480, 240, 960, "GB", "capacity of the PM883; an assumption"),
    Assumption("ssd_waf", 2, 1, 4, "", "write amplification of the SSD; an assumption"),
    Assumption(
        "fms_fault_us", 15, 10, 40, "µs", "RTL: median of 9.4 µs beside appends; the rest is a host's"
    ),
    Assumption("faults", 4, 1, 16, "", "page faults in flight; an assumption"),
)


class Runs:
    """Simulations with these values of the assumptions; each is done once."""

    def __init__(self, values: Values) -> None:
        if values["room"] < 1:
            raise FigureError(f"room is {values['room']:g} jobs; expected at least 1")
        self.values = values
        self.nine = tuple(self._job(name, number) for number, name in enumerate(MODELS))
        self.pairs = {name: self._pair(name) for name in PAIRS}
        self.report = cache(self._report)

    def store(self, name: str) -> BackingStore:
        v = self.values
        faulted = v["faults"] * PAGE_BYTES * 1e6
        if name == SSD:
            return BackingStore(
                SSD, v["ssd_write_mb"] * MB, v["ssd_read_mb"] * MB, faulted / v["ssd_fault_us"],
                v["ssd_gb"] * GB, write_amplification=v["ssd_waf"],
            )  # fmt: skip
        config = preset(PRESET)
        return BackingStore(
            name,
            min(v["pcie_gb"] * GB, append_bound(config)),
            min(v["pcie_gb"] * GB, read_bound(config).bytes_per_second),
            faulted / v["fms_fault_us"],
            config.geometry.capacity_bytes,
            full_duplex=True,
            state_on_dies=name == DIES,
        )

    def held(self, job: Job, store: str) -> int:
        """Bytes of DRAM that a job holds beside this storage."""
        footprint = job.footprint
        return footprint.total_bytes - (footprint.optimizer_bytes if store == DIES else 0)

    def all_held(self, store: str) -> int:
        """Of the nine jobs."""
        return sum(self.held(job, store) for job in self.nine)

    def of_pair(
        self, pair: str, policy: MemoryPolicy, store: str, quantum_minutes: float | None = None
    ) -> NodeReport | None:
        """Two jobs on one accelerator, in DRAM of `room` jobs; of two where the policy needs that.

        None where the memory is too small for the policy.
        """
        jobs = self.pairs[pair]
        held = self.held(jobs[0], store)
        dram = 2 * held if policy is KEEP else int(self.values["room"] * held)
        return self.report(policy, store, jobs, 1, dram, quantum_minutes or self.values["quantum_minutes"])

    def slowdown(
        self, pair: str, policy: MemoryPolicy, store: str, quantum_minutes: float | None = None
    ) -> float:
        """Time of two jobs in little memory over that with memory for both, less one.

        The time is that until both have ended; it is infinite where the memory is too small.
        """
        reports = [self.of_pair(pair, each, store, quantum_minutes) for each in (policy, KEEP)]
        found, needed = (inf if report is None else report.seconds for report in reports)
        return found / needed - 1

    def slowest(self, policy: MemoryPolicy, store: str, quantum_minutes: float | None = None) -> float:
        """The largest slowdown of all pairs."""
        return max(self.slowdown(pair, policy, store, quantum_minutes) for pair in PAIRS)

    def of_nine(self, policy: MemoryPolicy, store: str, dram_gb: float | None = None) -> NodeReport | None:
        """The nine jobs; None where the memory is too small for the policy.

        To keep all resident is given the memory that it needs.
        """
        dram = self.all_held(store) if policy is KEEP else int((dram_gb or self.values["dram_gb"]) * GB)
        accelerators = int(self.values["accelerators"])
        return self.report(policy, store, self.nine, accelerators, dram, self.values["quantum_minutes"])

    def _report(
        self, policy: MemoryPolicy, store: str, jobs: tuple[Job, ...], accelerators: int, dram: int,
        quantum_minutes: float,
    ) -> NodeReport | None:  # fmt: skip
        node = Node(dram, accelerators, self.store(store), 60 * quantum_minutes)
        try:
            return simulate(node, jobs, policy)
        except JobTooLarge:
            return None

    def _pair(self, name: str) -> tuple[Job, Job]:
        job = replace(self._job(name.partition(",")[0], 0), waits=())
        if name == STATE_PAIR:
            job = replace(job, footprint=replace(job.footprint, dataset_bytes=0), batch_bytes=0)
        return replace(job, name=f"{name}, a"), replace(job, name=f"{name}, b")

    def _job(self, name: str, number: int) -> Job:
        """`number` makes a job's random waits its own."""
        v, model = self.values, MODELS[name]
        text = name in LANGUAGE
        dataset = int((v["text_gb"] if text else v["images_gb"]) * GB)
        seconds = Machine(v).job(name).iteration_seconds
        batch = 0 if text else int(model.batch * v["batch_scale"] * v["image_kb"] * 1e3)
        job = Job(
            name,
            Footprint(dataset, model.weight_bytes, model.optimizer_bytes(), int(v["buffers_gb"] * GB)),
            max(1, round(v["job_hours"] * 3600 / seconds)),
            seconds,
            batch_bytes=min(batch, dataset),
        )
        random = np.random.default_rng((SEED, number))
        return with_waits(job, v["wait_share"], 60 * v["wait_minutes"], v["planned"], random)
