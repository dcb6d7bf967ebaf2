"""Plays the tasks of an iteration in time.

Cores and links do one task after the other, cores in the order of the sequence. Storages have all requests
that can begin. Tensors are thus read ahead, and appended behind, as far as the tensor buffer has space. Its
space is granted in the order of the sequence, so what comes first never waits for what comes later.
"""

from collections import deque
from heapq import heappop, heappush
from itertools import count
from math import inf

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.nodes import Platform
from flashtrain.platform.plan import plan
from flashtrain.platform.storage import Kind, Request
from flashtrain.platform.tasks import Part, Side, Task
from flashtrain.platform.timeline import Interval, Level, Timeline
from flashtrain.training.sequence import TrainingSequence

AFTER_LAST_STEP = "updates after the last step"


def play_iteration(sequence: TrainingSequence, platform: Platform, parallel: str = "micro_batch") -> Timeline:
    """One iteration, alone: it begins with the stored weights, and ends when all that it appends is stored.

    `parallel` as in `plan`. Raises `PlatformError` if a step needs more than the tensor buffer.
    """
    return play(plan(sequence, platform, parallel), platform)


def play(tasks: list[Task], platform: Platform, erases: bool = True) -> Timeline:
    """These tasks alone; errors as `play_iteration`.

    erases: zones of the iteration before are still to be erased.
    """
    return _Player(tasks, platform, erases).run()


class _Player:
    def __init__(self, tasks: list[Task], platform: Platform, erases: bool) -> None:
        self._tasks = tasks
        self._erases = erases
        self._now = 0.0
        self._free = {
            Side.ACTIVATION: platform.activation.buffer_bytes,
            Side.WEIGHT: platform.weight.buffer_bytes,
        }
        self._sizes = dict(self._free)
        self._storages = {
            Part.STORAGE: platform.activation.new_storage(),
            Part.WEIGHT_STORAGE: platform.weight.new_storage(),
        }
        self._waits: dict[Task, int] = {}
        self._after: dict[Task, list[Task]] = {task: [] for task in tasks}
        self._grants = {side: deque[tuple[Task, float]]() for side in Side}
        self._queues = {part: deque[Task]() for part in Part if not part.is_storage}
        self._ready: set[Task] = set()
        self._busy: dict[Part, Task] = {}
        self._ends: list[tuple[float, int, Task]] = []
        self._order = count()
        self._requests: dict[Request, tuple[Task, float]] = {}
        self._intervals: list[Interval] = []
        self._levels: list[Level] = []
        self._stalls: dict[str, float] = {}
        self._begun: dict[Task, float] = {}
        self._blocker: dict[Task, Task] = {}
        """The task whose end a task waited for last: it came before it, or freed space for it."""
        self._core_free_at = 0.0
        self._served_until: dict[tuple[str, str], float] = {}
        self._left = len(tasks)

    def run(self) -> Timeline:
        self._prepare()
        for task in self._tasks:
            self._waits[task] = len(task.before) + len(task.takes)
            for earlier in task.before:
                self._after[earlier].append(task)
            for space in task.takes:
                self._grants[space.side].append((task, space.bytes))
            if task.part in (Part.CORE, Part.WEIGHT_CORE):
                self._queues[task.part].append(task)
        for task in self._tasks:
            if not self._waits[task]:
                self._begin(task)
        for side in Side:
            self._grant(side)
        while self._left:
            self._step()
        self._stall(AFTER_LAST_STEP, self._now - self._core_free_at)
        operations = tuple(
            Interval(f"{part} {each.part}", each.name, each.start, each.end)
            for part, storage in self._storages.items()
            for each in storage.operations()
        )
        return Timeline(self._now, tuple(self._intervals), tuple(self._levels), self._stalls, operations)

    def _step(self) -> None:
        """Go on to the next end of a task or a request, or to a horizon of the storages."""
        end = self._ends[0][0] if self._ends else inf
        busy = [storage for storage in self._storages.values() if storage.busy]
        if not busy and end == inf:
            self._fail()
        limit = end if len(busy) < 2 else min(end, *(storage.horizon() for storage in busy))
        moved = sorted((storage.advance(limit) for storage in busy), key=lambda item: item[0])
        if not any(done for _, done in moved):
            self._now = max(self._now, limit)
            self._end_tasks()
        for time, done in moved:
            for request in done:
                self._now = max(self._now, time)
                task, begun = self._requests.pop(request)
                self._record(task, begun)
                self._finish(task)

    def _end_tasks(self) -> None:
        while self._ends and self._ends[0][0] <= self._now:
            _, _, task = heappop(self._ends)
            del self._busy[task.part]
            if task.part is Part.CORE:
                self._core_free_at = self._now
            self._finish(task)
            self._next(task.part)

    def _prepare(self) -> None:
        """The storages hold what is read before it is appended. The iteration before appended as much."""
        for part, storage in self._storages.items():
            stored: dict[str, Request] = {}
            written: dict[str, Request] = {}
            for task in self._tasks:
                if task.part is part:
                    if task.kind is not Kind.APPEND and task.tensor not in written:
                        stored.setdefault(task.tensor, task.request)
                    if task.kind is not Kind.READ:
                        written[task.tensor] = task.request
            storage.prepare(list(stored.values()), list(written.values()) if self._erases else [])

    def _fail(self) -> None:
        """Nothing goes on: the space of a task is not there."""
        order = {task: number for number, task in enumerate(self._tasks)}
        stuck = [(side, *queue[0]) for side, queue in self._grants.items() if queue]
        for side, task, needed in sorted(stuck, key=lambda item: order[item[1]]):
            if needed > self._free[side]:
                raise PlatformError(
                    f"{task.name} needs {needed / 1e9:.3g} GB of the {side.value}'s tensor buffer, where"
                    f" {self._free[side] / 1e9:.3g} of {self._sizes[side] / 1e9:.3g} GB are free;"
                    " expected a larger buffer"
                )
        raise AssertionError("tasks wait for each other")

    def _finish(self, task: Task) -> None:
        self._left -= 1
        freed: set[Side] = set()
        for space in task.uses:
            space.users -= 1
            if not space.users:
                self._free[space.side] += space.bytes
                freed.add(space.side)
        for later in self._after[task]:
            self._unblock(later, task)
        for side in freed:
            self._level(side)
            self._grant(side, task)

    def _grant(self, side: Side, freed_by: Task | None = None) -> None:
        queue = self._grants[side]
        while queue and queue[0][1] <= self._free[side]:
            task, needed = queue.popleft()
            self._free[side] -= needed
            self._level(side)
            self._unblock(task, freed_by)

    def _unblock(self, task: Task, blocker: Task | None) -> None:
        self._waits[task] -= 1
        if not self._waits[task]:
            if blocker is not None:
                self._blocker[task] = blocker
            self._begin(task)

    def _begin(self, task: Task) -> None:
        """Everything that the task needs is there."""
        self._begun[task] = self._now
        if task.part.is_storage:
            request = task.request
            self._requests[request] = task, self._now
            self._storages[task.part].submit(self._now, request)
            return
        self._ready.add(task)
        if task.part not in (Part.CORE, Part.WEIGHT_CORE):
            self._queues[task.part].append(task)
        self._next(task.part)

    def _next(self, part: Part) -> None:
        queue = self._queues[part]
        if part in self._busy or not queue or queue[0] not in self._ready:
            return
        task = queue.popleft()
        self._ready.remove(task)
        if part is Part.CORE:
            self._explain_stall(task)
        self._busy[part] = task
        self._intervals.append(Interval(str(part), task.name, self._now, self._now + task.seconds))
        heappush(self._ends, (self._now + task.seconds, next(self._order), task))

    def _explain_stall(self, task: Task) -> None:
        """Divide the time since the core's last step among the tasks that `task` waited for, backwards."""
        end = self._now
        while end > self._core_free_at and task in self._blocker:
            task = self._blocker[task]
            begin = max(self._core_free_at, min(end, self._begun[task]))
            self._stall(task.cause, end - begin)
            end = begin

    def _stall(self, cause: str, seconds: float) -> None:
        if seconds > 0:
            self._stalls[cause] = self._stalls.get(cause, 0.0) + seconds

    def _record(self, task: Task, begun: float) -> None:
        """Requests of a kind and a stream are served in order: one begins when another has ended."""
        track = f"{task.part} {task.kind}"
        begun = max(begun, self._served_until.get((track, task.stream), 0.0))
        self._served_until[track, task.stream] = self._now
        self._intervals.append(Interval(track, task.name, begun, self._now, task.bytes))

    def _level(self, side: Side) -> None:
        self._levels.append(Level(side.value, self._now, self._sizes[side] - self._free[side]))
