"""What the zone manager wants to know of a command before it looks at the zone."""

from flashtrain.rtl.layouts import Operation
from flashtrain.spec import ZoneAction
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction


class CommandKind:
    """The kinds of a `Command`, as values of one bit."""

    def __init__(self, command):
        operation, action = command.operation, command.action
        self.is_update = operation == Operation.UPDATE
        self.is_append = (operation == Operation.APPEND) | (operation == Operation.WRITE) | self.is_update
        self.is_generation = operation == Operation.GENERATION
        is_send = operation == Operation.SEND
        self.is_report = operation == Operation.RECEIVE
        self.is_restore = operation == Operation.RESTORE
        self.restores_zone = self.is_restore & (action == RestoreAction.ZONE)
        self.commits = self.is_generation & (action == GenerationAction.COMMIT)
        self.pins = self.is_generation & (action == GenerationAction.PIN)
        self.releases = self.is_generation & (action == GenerationAction.RELEASE)
        self.to_all_dies = (operation == Operation.CONSTANTS) | (operation == Operation.STATISTICS)
        inspects = operation == Operation.INSPECT
        self.is_of_no_zone = self.to_all_dies | inspects  # but has a job with blocks
        self.has_read_job = (operation == Operation.READ) | (operation == Operation.STATISTICS) | inspects
        resets = is_send & (action == ZoneAction.RESET)
        self.resets_stream = (operation == Operation.RESET) | (resets & command.select_all)
        self.loops = is_send & command.select_all & ~resets  # over the zones of the stream
        sends_one = is_send & ~command.select_all
        manages_zone = sends_one | (operation == Operation.RETIRE) | self.restores_zone
        self.changes_zone = self.is_append | manages_zone
        # Answered when its zone or stream is changed.
        self.ends_here = manages_zone | self.resets_stream | self.is_generation | self.is_restore
