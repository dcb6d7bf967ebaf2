"""The queues of a function, and the commands in them from their doorbell to their completion."""

import asyncio
from collections import Counter
from collections.abc import Callable
from threading import Lock

from flashtrain.nvme.subsystem.admin import Admin
from flashtrain.nvme.subsystem.controller import Controller
from flashtrain.nvme.subsystem.events import Event
from flashtrain.nvme.subsystem.io_commands import Refusal
from flashtrain.nvme.subsystem.jobs import Space, Steps
from flashtrain.nvme.subsystem.notices import Notice
from flashtrain.nvme.subsystem.profile import PCIE
from flashtrain.nvme.subsystem.reply import SUCCESS, Reply, reply_of
from flashtrain.nvme.subsystem.subsystem import Subsystem
from flashtrain.nvme.wire.commands import AdminOpcode, Entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec.pcie import (
    AGGREGATION_SECONDS,
    PAGE_BITS,
    RESERVED_PSDT,
    AdminSizes,
    Configuration,
    Priority,
    has_admin_queues,
)

from .coalescing import Coalescing
from .memory import HostMemory, Span, Unreachable, scatter
from .prp import spans
from .queues import Command, CompletionQueue, PageData, SubmissionQueue
from .sgl import sgl_spans
from .turns import Turns

_CONTIGUOUS, _INTERRUPTS = 1, 2
_DEPTH_OF_DEVICE = 2
"""Commands that have begun, as a multiple of those that the device executes at once; others wait."""


class Commands:
    """Fetches commands, executes them, and posts completions. Admin commands come first, queues take turns.

    `interrupt` is called with a vector, once for all completions of a turn of the event loop. It is for more
    of them if the host has set it so.
    """

    def __init__(
        self,
        subsystem: Subsystem,
        controller: Controller,
        memory: HostMemory,
        interrupt: Callable[[int], None],
    ) -> None:
        self._subsystem, self._controller, self._memory = subsystem, controller, memory
        self._coalescing = Coalescing(controller.features, interrupt, _later)
        self._admin = Admin(subsystem)
        self._submissions: dict[int, SubmissionQueue] = {}
        self._completions: dict[int, CompletionQueue] = {}
        self._unfetched: set[SubmissionQueue] = set()
        self._turns = Turns()
        self._to_post: set[CompletionQueue] = set()
        self._page_bytes = 1 << PAGE_BITS
        self._gate = Lock()
        self._begun = 0
        self._most_begun = _DEPTH_OF_DEVICE * subsystem.thread.device.config.commands
        self._when_idle: Callable[[], None] | None = None

    # Of the controller.

    def start(self, page_bytes: int, sizes: int, submissions: int, completions: int) -> bool:
        """Make the admin queues by AQA, ASQ and ACQ; False if they cannot be."""
        self._page_bytes = page_bytes
        arbitration = Configuration.arbitration.get(self._controller.configuration)
        self._turns.weighted = arbitration == Configuration.WEIGHTED
        if not has_admin_queues(sizes, submissions, completions, page_bytes):
            return False
        sq_entries, cq_entries = AdminSizes.submissions.get(sizes) + 1, AdminSizes.completions.get(sizes) + 1
        self._completions[0] = CompletionQueue(0, completions, cq_entries, 0)
        self._add(SubmissionQueue(0, submissions, sq_entries, self._completions[0], self._complete))
        return True

    def stop(self) -> None:
        """Forget all queues and commands. No byte goes to the host any more."""
        for queue in self._submissions.values():
            self._controller.connections.pop(queue.number, None)
            queue.close()
        self._submissions.clear()
        self._completions.clear()
        self._unfetched.clear()
        self._turns.clear()
        self._to_post.clear()
        self._coalescing.stop()

    def when_idle(self, function: Callable[[], None]) -> None:
        """Call a function as soon as the device has ended all commands, those that were forgotten, too.

        It takes the place of an earlier one that has not been called.
        """
        self._when_idle = function
        self._look_for_idle()

    def wait_for(self, future: "asyncio.Future[None]") -> None:
        """The device is not idle before the future has ended."""

        def ended(_: "asyncio.Future[None]") -> None:
            self._begun -= 1
            self._look_for_idle()

        self._begun += 1
        future.add_done_callback(ended)

    def doorbell(self, number: int, of_completions: bool, value: int) -> None:
        """The host has written a doorbell."""
        events = self._controller.events
        if of_completions:
            completions = self._completions.get(number)
            if completions is None:
                events.raise_event(Event.WRONG_DOORBELL)
            elif completions.free(value):
                self._post(completions)
                self._begin()
            else:
                events.raise_event(Event.WRONG_DOORBELL_VALUE)
            return
        queue = self._submissions.get(number)
        if queue is None or queue.when_empty is not None:
            events.raise_event(Event.WRONG_DOORBELL)
        elif queue.extend(value):
            self._unfetched.add(queue)
            self._begin()
        else:
            events.raise_event(Event.WRONG_DOORBELL_VALUE)

    # From the doorbell to the start.

    def _add(self, queue: SubmissionQueue) -> None:
        self._submissions[queue.number] = queue
        self._controller.attach(queue.number, queue)
        queue.completions.users += 1

    def _fetch(self, queue: SubmissionQueue) -> None:
        try:
            if queue.fetch(self._memory):
                self._unfetched.discard(queue)
        except Unreachable as address:
            self._fail(f"submission queue {queue.number} is at {address}, where there is no memory")
            return
        if queue.number and queue not in self._turns:
            self._turns.add(queue)

    def _begin(self) -> None:
        """Fetch commands, and begin those that wait, as far as there is room."""
        if self._unfetched and self._controller.enabled:
            for queue in sorted(self._unfetched, key=lambda queue: queue.number):
                self._fetch(queue)
        admin = self._submissions.get(0)
        while admin is not None and admin.waiting and self._controller.enabled:
            self._begin_admin(admin.waiting.popleft())
        if not self._turns:
            return
        weights = self._controller.features.weights
        while self._turns and self._begun < self._most_begun and self._controller.enabled:
            queue = self._turns.take(weights)
            if queue.waiting:
                self._begin_io(queue.waiting.popleft())
                self._turns.add(queue)

    def _enter(self, command: Command) -> None:
        """Check what commands of all queues have in common."""
        commands, entry = command.queue.commands, command.entry
        if entry.cid in commands:
            raise Refusal(TargetStatus.CID_CONFLICT)
        commands[entry.cid] = command
        # Admin commands have PRPs (NVM Express Base 2.0, section 4.1).
        if entry.psdt in ((RESERVED_PSDT,) if command.queue.number else range(1, 4)):
            raise Refusal(TargetStatus.INVALID_FIELD)

    def _spans(self, command: Command, length: int) -> list[Span]:
        first, second = command.entry.sgl_address, command.second
        if command.entry.psdt:
            return sgl_spans(self._memory, first, second, length, 1 << PAGE_BITS + self._subsystem.exponent)
        return spans(self._memory, first, second, length, self._page_bytes)

    def _views(self, command: Command, length: int) -> list[memoryview]:
        """The data of a command in the host's memory."""
        found = []
        try:
            for address, size in self._spans(command, length):
                found += self._memory.views(address, size)
        except Unreachable:
            raise Refusal(TargetStatus.DATA_TRANSFER_ERROR) from None
        return found

    # I/O commands.

    def _begin_io(self, command: Command) -> None:
        entry, controller = command.entry, self._controller
        try:
            self._enter(command)
            transfer = self._subsystem.io.transfer(entry)
            size = transfer.to_device + transfer.to_host
            command.views = self._views(command, size)
            self._subsystem.traffic.sgls += bool(size and entry.psdt)
        except Refusal as refusal:
            if refusal.status != TargetStatus.CID_CONFLICT:
                self._subsystem.note(controller, command.queue.number, entry, Reply(refusal.status), 0)
            self._complete(command, Reply(refusal.status))
            return

        def done(reply: Reply) -> None:
            self._begun -= 1
            if not command.cancelled:
                self._subsystem.note(controller, command.queue.number, entry, reply, size)
                self._complete(command, reply)
            self._begin()
            self._look_for_idle()

        def start(space: Space) -> Steps:
            return _nothing() if command.cancelled else steps_of(space)

        command.data = PageData(command.views, self._gate)
        dulbe = controller.features.fails_on_unwritten(entry.nsid)
        job = self._subsystem.io.job(entry, command.data, dulbe, done)
        steps_of, job.start = job.start, start
        self._begun += 1
        self._subsystem.thread.submit(job)

    def _look_for_idle(self) -> None:
        if self._when_idle is not None and not self._begun:
            function, self._when_idle = self._when_idle, None
            function()

    # Admin commands.

    def _begin_admin(self, command: Command) -> None:
        entry, controller = command.entry, self._controller
        try:
            self._enter(command)
            command.views = self._views(command, self._admin.length(entry, PCIE))
            reply = self._execute_admin(command)
        except Refusal as refusal:
            if refusal.status != TargetStatus.CID_CONFLICT:
                controller.note_error(0, entry, refusal.status)
            reply = Reply(refusal.status)
        if reply is not None:
            self._complete(command, reply)

    def _execute_admin(self, command: Command) -> Reply | None:
        """The reply, or None for one that comes later."""
        entry, events = command.entry, self._controller.events
        match entry.opcode:
            case AdminOpcode.CREATE_CQ:
                return self._create_completions(entry)
            case AdminOpcode.CREATE_SQ:
                return self._create_submissions(entry)
            case AdminOpcode.DELETE_CQ:
                return self._delete_completions(entry)
            case AdminOpcode.DELETE_SQ:
                return self._delete_submissions(command)
            case AdminOpcode.ASYNC_EVENT_REQUEST if events.full:
                return Reply(TargetStatus.ASYNC_EVENT_LIMIT_EXCEEDED)
            case AdminOpcode.ASYNC_EVENT_REQUEST:
                events.request(lambda result: self._complete(command, Reply(result=result)))
                return None
        reply = self._admin.execute(self._controller, entry)
        if entry.opcode == AdminOpcode.SET_FEATURES:
            self._coalescing.flush()  # by what was set before
        if isinstance(reply, Reply):
            return reply
        task = asyncio.ensure_future(reply)
        task.add_done_callback(lambda task: self._complete(command, reply_of(task)))
        return None

    def _new_queue(self, entry: Entry, others: dict, entry_exponent: int) -> tuple[int, int]:
        """Number and entries of a queue to be made; `entry_exponent` is that of its entries in CC."""
        number, entries = entry.dword_10 & 0xFFFF, (entry.dword_10 >> 16) + 1
        settings = self._subsystem.settings
        if not 0 < number <= settings.queues or number in others:
            raise Refusal(TargetStatus.INVALID_QUEUE_NUMBER)
        if not 2 <= entries <= settings.entries or not entry_exponent:
            raise Refusal(TargetStatus.INVALID_QUEUE_SIZE)
        return number, entries

    def _check_base(self, entry: Entry) -> None:
        if entry.sgl_address & self._page_bytes - 1:
            raise Refusal(TargetStatus.INVALID_PRP_OFFSET)
        if not entry.dword_11 & _CONTIGUOUS:
            raise Refusal(TargetStatus.INVALID_FIELD)  # CAP.CQR

    def _create_completions(self, entry: Entry) -> Reply:
        """NVM Express Base 2.0, section 5.4."""
        exponent = Configuration.completion_exponent.get(self._controller.configuration)
        number, entries = self._new_queue(entry, self._completions, exponent)
        vector = entry.dword_11 >> 16
        if vector > self._subsystem.settings.queues:
            raise Refusal(TargetStatus.INVALID_VECTOR)
        self._check_base(entry)
        interrupts = bool(entry.dword_11 & _INTERRUPTS)
        self._completions[number] = CompletionQueue(
            number, entry.sgl_address, entries, vector if interrupts else None
        )
        return SUCCESS

    def _create_submissions(self, entry: Entry) -> Reply:
        """NVM Express Base 2.0, section 5.5. The priority has no meaning for round robin."""
        priority = Priority(entry.dword_11 >> 1 & 3)
        exponent = Configuration.submission_exponent.get(self._controller.configuration)
        number, entries = self._new_queue(entry, self._submissions, exponent)
        chosen = entry.dword_11 >> 16
        if not 0 < chosen <= self._subsystem.settings.queues:
            raise Refusal(TargetStatus.INVALID_QUEUE_NUMBER)
        if chosen not in self._completions:
            raise Refusal(TargetStatus.INVALID_COMPLETION_QUEUE)
        self._check_base(entry)
        completions = self._completions[chosen]
        queue = SubmissionQueue(number, entry.sgl_address, entries, completions, self._complete, priority)
        self._add(queue)
        return SUCCESS

    def _delete_completions(self, entry: Entry) -> Reply:
        queue = self._completions.get(entry.dword_10 & 0xFFFF)
        if queue is None or not queue.number:
            return Reply(TargetStatus.INVALID_QUEUE_NUMBER)
        if queue.users:
            return Reply(TargetStatus.INVALID_QUEUE_DELETION)
        del self._completions[queue.number]
        return SUCCESS

    def _delete_submissions(self, command: Command) -> Reply | None:
        """Commands that have not begun are aborted. The queue is gone when all others have ended."""
        queue = self._submissions.get(command.entry.dword_10 & 0xFFFF)
        if queue is None or not queue.number or queue.when_empty is not None:
            return Reply(TargetStatus.INVALID_QUEUE_NUMBER)

        def gone() -> None:
            self._submissions.pop(queue.number, None)
            self._controller.connections.pop(queue.number, None)
            queue.completions.users -= 1
            self._complete(command, SUCCESS)

        while queue.waiting:
            self._complete(queue.waiting.popleft(), Reply(TargetStatus.ABORTED_BY_QUEUE_DELETION))
        queue.when_empty = gone
        queue.look_for_end()
        return None

    # Completions.

    def _complete(self, command: Command, reply: Reply) -> None:
        if command.cancelled or not self._controller.enabled:
            return
        if len(reply.data) and reply.status == TargetStatus.SUCCESS:
            scatter(reply.data, command.views)
        command.queue.completions.add(command, reply)
        self._post(command.queue.completions)
        command.queue.ended(command)

    def _post(self, queue: CompletionQueue) -> None:
        """Post what waits in a queue, at the end of this turn of the event loop."""
        if not self._to_post:
            asyncio.get_running_loop().call_soon(self._post_all)
        self._to_post.add(queue)

    def _post_all(self) -> None:
        """Post completions, those of the admin queue last, and send an interrupt for each vector of them."""
        queues, self._to_post = self._to_post, set()
        posted: Counter[int] = Counter()
        for queue in sorted(queues, key=lambda queue: -queue.number):
            try:
                count = queue.post(self._memory)
                if count and queue.vector is not None:
                    posted[queue.vector] += count
            except Unreachable as address:
                self._fail(f"completion queue {queue.number} is at {address}, where there is no memory")
                return
        for vector in sorted(posted):
            self._coalescing.posted(vector, posted[vector])

    def _fail(self, reason: str) -> None:
        """A fatal error: the queues stand still until the host resets the controller."""
        self._subsystem.notices.note(Notice.FATAL, f"the controller has stopped: {reason}")
        self._controller.fail()


def _later(units: int, function: Callable[[], None]) -> asyncio.TimerHandle:
    return asyncio.get_running_loop().call_later(AGGREGATION_SECONDS * units, function)


def _nothing() -> Steps:
    """The steps of a job that was forgotten before it has begun."""
    return Reply(TargetStatus.ABORT_REQUESTED)
    yield
