"""The options of fio: those that have a meaning here, those that have none, and those that are refused.

`flashtrain io` accepts an option without a meaning and lists it. It refuses what it cannot do, unless the
option is set to 0 or `none`. The names are those of fio 3.33 (`fio --cmdhelp=all`), and some that
later ones have added.
`python -m flashtrain.io.fio` prints the table of docs/io.md.
"""

import re
from collections.abc import Mapping

ALIASES = {
    "readwrite": "rw", "blocksize": "bs", "bsrange": "blocksize_range",
    "blocksize_unaligned": "bs_unaligned", "iodepth_batch_submit": "iodepth_batch", "io_limit": "io_size",
    "timeout": "runtime", "numruns": "loops", "wait_for_previous": "stonewall", "blockalign": "ba",
    "fileoffset": "offset", "bw_avg_time": "bwavgtime",
    "iodepth_batch_complete": "iodepth_batch_complete_min", "ratemin": "rate_min",
    "softrandommap": "norandommap", "iomem": "mem", "iomem_align": "mem_align", "hugepage": "hugepage-size",
    "threads": "thread", "nr_files": "nrfiles", "fill_fs": "fill_device", "ratecycle": "rate_cycle",
    "disable_bw": "disable_bw_measurement", "ss": "steadystate", "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
}  # fmt: skip
"""Other names that fio has for an option."""


def _reasons(rows: Mapping[str, str]) -> dict[str, str]:
    return {name: reason for reason, names in rows.items() for name in names.split()}


IGNORED = _reasons({
    "the engine and the host's processors, which the simulation has not":
        "ioengine direct buffered thread sync mem mem_align hugepage-size lockmem cpumask cpus_allowed "
        "cpus_allowed_policy numa_cpu_nodes numa_mem_policy nice ioscheduler clocksource "
        "gtod_reduce gtod_cpu hipri hipri_percentage fixedbufs registerfiles sqthread_poll "
        "sqthread_poll_cpu nonvectored uncached nowait force_async userspace_reap iodepth_batch "
        "iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low io_submit_mode cgroup "
        "cgroup_nodelete cgroup_weight uid gid thinktime_spin thinktime_blocks_type cmd_type atomic "
        "readfua writefua invalidate pre_read cuda_io sync_file_range write_barrier write_hint "
        "fadvise_hint stat_type uri thp gpu_dev_ids stream_id flow_sleep",
    "priorities of commands: the drives have none":
        "prio prioclass priohint cmdprio cmdprio_percentage cmdprio_class cmdprio_bssplit cmdprio_hint",
    "files of an operating system":
        "directory filename_format unique_filename lockfile nrfiles file_service_type openfiles "
        "fallocate overwrite create_serialize create_fsync create_on_open allow_file_create "
        "allow_mounted_write unlink unlink_each_loop fsync_on_close opendir",
    "the form of a report":
        "description disk_util unit_base significant_figures stats clat_percentiles lat_percentiles "
        "slat_percentiles disable_lat disable_clat disable_slat disable_bw_measurement bwavgtime "
        "iopsavgtime write_bw_log write_lat_log write_iops_log write_hist_log log_avg_msec log_hist_msec "
        "log_hist_coarseness log_max_value log_offset log_prio log_compression log_compression_cpus "
        "log_store_compressed log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id log_entries "
        "log_window_value log_issue_time per_job_logs block_error_percentiles error_dump "
        "rate_cycle rate_ignore_thinktime eta",
    "contents of blocks: they are random, or those of verify":
        "verify_pattern zero_buffers refill_buffers scramble_buffers buffer_pattern "
        "buffer_compress_percentage buffer_compress_chunk dedupe_percentage dedupe_mode "
        "dedupe_working_set_percentage dedupe_global",
    "how fio checks: contents are checked whole, when they are read and at the end":
        "verify_fatal verify_dump verify_async verify_async_cpus verify_interval verify_offset "
        "verify_write_sequence verify_header_seed experimental_verify verify_state_save "
        "verify_backlog verify_backlog_batch serialize_overlap",
    "random numbers: an order is repeatable, and follows from randseed":
        "randrepeat allrandrepeat random_generator",
    "limits of zones: the driver keeps those of the device":
        "max_open_zones job_max_open_zones ignore_zone_limits read_beyond_wp zonecapacity",
})  # fmt: skip
"""Options that are accepted and listed, with the reason."""

REFUSED = _reasons({
    "a trace has a command of its own: flashtrain trace, flashtrain ssd replay":
        "read_iolog read_iolog_chunked replay_no_stall replay_redirect replay_scale replay_align "
        "replay_time_scale replay_skip merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters",
    "a recording is an option of the command: --trace FILE": "write_iolog",
    "fio's own profile of jobs": "profile",
    "a command of the shell": "exec_prerun exec_postrun",
    "trims are a job of their own: rw=trim or rw=randtrim":
        "trim_percentage trim_verify_zero trim_backlog trim_backlog_batch",
    "a run begins with new contents": "verify_only verify_state_load",
    "the first error of a command ends the run": "continue_on_error ignore_error exitall_on_error",
    "jobs of a flow stay within a command of each other": "flow_watermark",
    "the depth of a job is fixed; --sweep iodepth=1..64 shows what each depth gives":
        "iodepth_mode latency_target latency_window latency_percentile latency_run max_latency",
    "offsets of random_distribution": "random_sequence_stride sprandom spr_op spr_num_regions spr_cs",
    "the drives have no streams of placement":
        "fdp fdp_pli fdp_pli_select plid_select plids dataplacement dp_scheme",
    "a rate is an upper limit": "rate_min rate_iops_min",
    "a run ends by size, number_ios or runtime":
        "steadystate steadystate_duration steadystate_ramp_time thinktime_iotime",
    "offsets are multiples of ba": "bs_unaligned offset_align",
    "a file is written from its begin": "file_append create_only",
    "zones are reset when all in them is dropped":
        "zone_reset_threshold zone_reset_frequency",
    "reads and writes are reported apart": "unified_rw_reporting",
    "4k is 4096 bytes, as in fio by default": "kb_base",
    "verifications and copies by SCSI": "sg_write_mode",
    "options of engines whose commands are not those of a block device":
        "hostname protocol nodelay listen pingpong interface ttl window_size mss bindname verb cpuload "
        "cpuchunks cpumode exit_on_io_done donorname inplace program arguments grace_time std_redirect "
        "volume brick single-instance skip_bad clustername rbdname pool clientname conf busy_poll "
        "touch_objects nfs_url serverip direct_write_to_pmem busy_wait_polling",
})  # fmt: skip
"""Options that are refused unless they are off, with the reason."""

_NO_BLOCKS = frozenset(
    "cpuio net netsplice rdma rados rbd http nfs hdfs libhdfs gfapi gfapi_async dfs e4defrag falloc ftruncate"
    " exec librpma_apm_client librpma_apm_server librpma_gpspm_client librpma_gpspm_server"
    " filecreate fileoperations filestat filedelete dircreate dirstat dirdelete mtd external".split()
)
"""Engines whose commands are not those of a block device."""


def is_off(name: str, text: str) -> bool:
    """Whether a value turns a refused option off."""
    off = ("0", "none", "off", "false", "no")
    return text.lower() in off or (name, text) in (("kb_base", "1024"), ("sg_write_mode", "write"))


def engine_reason(engine: str) -> str | None:
    """Why jobs of an engine cannot run; None if they can."""
    if re.split("[:,]", engine)[0] in _NO_BLOCKS:
        return "its commands are not those of a block device"
    return None


def standings() -> str:
    """The options that are ignored and refused, by reason, as tables in Markdown."""
    parts = []
    for title, reasons in (("ignored", IGNORED), ("refused", REFUSED)):
        rows = [f"| {title} | because |", "|---|---|"]
        for reason in dict.fromkeys(reasons.values()):
            names = ", ".join(f"`{name}`" for name, why in reasons.items() if why == reason)
            rows.append(f"| {names} | {reason} |")
        parts.append("\n".join(rows))
    aliases = [f"| `{other}` | `{name}` |" for other, name in ALIASES.items()]
    return "\n\n".join([*parts, "\n".join(["| another name | of |", "|---|---|", *aliases])])


if __name__ == "__main__":
    print(standings())
