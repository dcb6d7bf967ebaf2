"""The rate of an optimizer step on the dies of a simulated device."""

from flashtrain.model.kernel import Kernel
from flashtrain.platform.flash_commands import FlashCommands
from flashtrain.platform.storage import Kind, Request
from flashtrain.platform.zone_ring import Extent
from flashtrain.spec import FmsConfig, Port
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.update import GradientFormat

DEPTH = 4


def simulated_step(config: FmsConfig, program: OptimizerCode, gradient: GradientFormat) -> float:
    """Parameters per second of a step into an erased zone, from its first command to its last completion.

    The step fills the zone with `DEPTH` commands in flight, and no copies come back.
    """
    g, commands = config.geometry, FlashCommands(config, program, gradient)
    rows = commands.zone_rows
    parameters = rows // g.planes * g.channels * commands.tile.parameters
    request = Request(Kind.UPDATE, parameters * gradient.bytes, "state")
    kernel = Kernel(config, whole_rows=True)
    kernel.run(kernel.enable(erased=True, recovers=False))
    kernel.set_queue_size(Port.CORE, DEPTH + 1)
    begin = kernel.now
    end = kernel.play(commands.commands(request, 1, [Extent(0, 0, rows)]), DEPTH)
    kernel.close()
    return parameters / (end - begin) * config.timing.clock_hz
