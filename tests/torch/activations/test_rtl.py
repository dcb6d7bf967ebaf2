"""A training with its activations on the RTL is one without, to the last bit; waits take simulated time."""

from flashtrain.host import open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.torch import OffloadActivations

from .networks import Transformer, same, trained, words_step


def test_transformer():
    """FP32 and BF16, several iterations in one stream; appends and reads in flight at the same time."""
    network, step = Transformer(), words_step()
    with open_device("small", RtlLink) as device:
        for bfloat16, memory in ((False, 280_000), (True, 195_000)):
            activations = OffloadActivations(device, memory_bytes=memory, min_bytes=0)
            ours = trained(network, step, lambda a=activations: a, bfloat16)
            assert same(ours, trained(network, step, bfloat16=bfloat16))
            report = activations.report()
            assert report.peak_bytes <= memory < report.total.saved_bytes / 2 / 2
            assert report.total.read_bytes > report.total.saved_bytes / 4
            assert report.write_wait_seconds > 0 and report.read_wait_seconds > 0
            print(report)
        assert device.stream("activations").zones_reset == 0
