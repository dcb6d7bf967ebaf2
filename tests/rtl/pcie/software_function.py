"""`flashtrain.nvme.pcie.Function` without a device, beside which the RTL is checked."""

from types import SimpleNamespace

from flashtrain.nvme.pcie.configuration import COMMAND, MASTER
from flashtrain.nvme.pcie.function import Function
from flashtrain.nvme.pcie.queues import Command
from flashtrain.nvme.subsystem.features import Features
from flashtrain.nvme.subsystem.io_commands import Refusal
from flashtrain.nvme.subsystem.profile import PCIE
from flashtrain.nvme.subsystem.reply import Reply
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.wire.commands import parse_entry


class SoftwareFunction:
    """The function in software, as a host reaches it; `doorbells` and `messages` as they leave it."""

    def __init__(self, queues: int, entries: int = 1024) -> None:
        self.doorbells: list[tuple[int, bool, int]] = []
        self.messages: list[tuple[int, int]] = []
        # A subsystem without other controllers: an end is recorded at once, and no command is under way.
        subsystem = SimpleNamespace(
            settings=SubsystemSettings(queues=queues, entries=entries),
            thread=SimpleNamespace(device=SimpleNamespace(config=SimpleNamespace(commands=1))),
            fault=None,
            record_end=lambda controller: None,
        )
        features = Features(PCIE.features, queues, False, b"", 0, PCIE.weighted)
        subsystem.open_controller = lambda host, profile, kind: kind(subsystem, 1, host, profile, features)
        memory = SimpleNamespace(message=lambda address, data: self.messages.append((address, data)))
        self.function = Function(subsystem, memory)
        self.function.configuration.write(COMMAND, MASTER, 2)
        self.function.controller.restart_timer = lambda: None  # of an event loop
        self.function.commands.doorbell = lambda *doorbell: self.doorbells.append(doorbell)
        self._replies: list[Reply] = []
        self.function.commands._complete = lambda command, reply: self._replies.append(reply)

    def change_queues(self, raw: bytes) -> int:
        """The status of an admin command that makes or deletes a queue, none of whose commands is open."""
        commands = self.function.commands
        command = Command(commands._submissions[0], parse_entry(raw), 0)
        try:
            reply = commands._execute_admin(command) or self._replies.pop()
        except Refusal as refusal:
            return int(refusal.status)
        return int(reply.status)
