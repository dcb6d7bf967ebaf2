"""The thread that uses the device: it starts jobs, advances the Link, and ends jobs."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from flashtrain.host import Device
from flashtrain.host.memory.tensor_buffer import Region
from flashtrain.host.queues.command_port import CommandPort
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec import Port

from .jobs import Effect, Job, Space
from .reply import Reply

T = TypeVar("T")

_JOBS_OF_A_TURN = 16
"""Of a device without time: a host goes on with the first jobs while the next ones are executed."""

_SLICE_CYCLES = 10_000
"""Cycles of a simulation between two looks at new jobs: some milliseconds."""


class DeviceThread:
    """Runs jobs on the HOST port of a device, many at once, outside of the event loop.

    - fault: the error after which the device has stopped, else None. All jobs end with INTERNAL_ERROR then,
      until a loss of power from which the device recovers.
    """

    def __init__(self, device: Device, say: Callable[[str], None]) -> None:
        self._say = say
        self.device = device
        self.fault: Exception | None = None
        self._commands: CommandPort = device.commands(Port.HOST)
        self._new: deque[Job | Callable[[], None]] = deque()
        self._waiting: deque[Job] = deque()
        self._running: set[Job] = set()
        self._wake = threading.Event()
        self._ended = False
        self._loop: asyncio.AbstractEventLoop
        self._at_rest = False
        self._most = device.config.commands
        self._finished: list[tuple[Job, Reply]] = []
        self._thread = threading.Thread(target=self._run, name="nvme device", daemon=True)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the thread; jobs end in the event loop."""
        self._loop = loop
        self._thread.start()

    def stop(self) -> None:
        """End the thread after its present slice; jobs in flight are lost."""
        self._ended = True
        self._wake.set()
        self._thread.join()

    def submit(self, job: Job) -> None:
        """Queue a job; from any thread."""
        self._new.append(job)
        self._notify()

    def call(self, function: Callable[[Device], T]) -> "Future[T]":
        """Run a function with the device between two slices; from any thread."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(function(self.device))
            except Exception as error:
                future.set_exception(error)

        self._new.append(run)
        self._notify()
        return future

    async def ask(self, function: Callable[[Device], T]) -> T:
        """As :meth:`call`, for the event loop."""
        return await asyncio.wrap_future(self.call(function))

    def record_end(self) -> "Future[None]":
        """Record an orderly end, once all commands are done; the next change goes on from it."""

        def end(device: Device) -> None:
            if not self._at_rest:
                device.record_end()
                self._at_rest = True

        return self._call_or_stop(end)

    def lose_power(self) -> "Future[None]":
        """Switch the device off and on at once, and recover it; jobs in flight are lost."""

        return self._call_or_stop(self._lose_power)

    def _lose_power(self, device: Device) -> None:
        device.link.power_cycle()
        device.recover()
        self._at_rest = False
        self.fault = None

    def _call_or_stop(self, function: Callable[[Device], None]) -> "Future[None]":
        """Run a function as :meth:`call` does; its failure stops the device."""

        def run(device: Device) -> None:
            try:
                function(device)
            except Exception as error:
                self._fail(error)
                raise

        return self.call(run)

    def _run(self) -> None:
        while not self._ended:
            if not self._running and not self._waiting:
                self._wake.wait()
            self._wake.clear()
            self._turn()
            self._deliver()

    def _notify(self) -> None:
        """Say that there is something new."""
        if not self._wake.is_set():
            self._wake.set()

    def _turn(self) -> None:
        """Start what is new, and run the device for a moment."""
        try:
            self._take_new()
            if self.fault is None:
                self._start_waiting()
                self._advance()
            else:
                self._end_all()
        except Exception as error:  # whatever it is: hosts get an answer, and the log has the reason
            self._fail(error)

    def _take_new(self) -> None:
        while self._new:
            item = self._new.popleft()
            if isinstance(item, Job):
                self._waiting.append(item)
            else:
                item()

    def _start_waiting(self) -> None:
        """Start jobs in their order, as far as the device and the tensor buffer have room."""
        started = []
        while self._waiting and len(self._running) < self._most:
            job = self._waiting[0]
            if job.blocks:
                job.region = self._commands.take(job.blocks)
                if job.region is None and self._running:
                    break
            self._waiting.popleft()
            if job.blocks and job.region is None:
                self._end(job, Reply(TargetStatus.INTERNAL_ERROR))
                continue
            self._running.add(job)  # before anything that may fail: whatever happens, it gets an answer
            if job.effect is Effect.CHANGES and self._at_rest:
                self._at_rest = False
                self.device.record_use()
            job.steps = job.start(_NOTHING if job.region is None else self._space(job.region))
            started.append(job)
        self._step(started)

    def _space(self, region: Region) -> Space:
        return Space(region.address, self._commands.view(region))

    def _step(self, jobs: list[Job]) -> None:
        """Send completions into the steps of jobs, and submit their next commands together."""
        commands, waiting = [], []
        for job in jobs:
            assert job.steps is not None
            completion = None if job.request is None else job.request.completion
            job.request = None
            try:
                commands.append(next(job.steps) if completion is None else job.steps.send(completion))
                waiting.append(job)
            except StopIteration as stop:
                self._running.discard(job)
                self._end(job, stop.value)
        if commands:
            for job, request in zip(waiting, self._commands.submit(commands), strict=True):
                job.request = request

    def _advance(self) -> None:
        """Run the device for a moment, and go on with the jobs whose commands are done."""
        requests = [job.request for job in self._running if job.request is not None]
        if requests and not any(request.done for request in requests):
            self._commands.advance(requests, _SLICE_CYCLES)
        done = [job for job in self._running if job.request is not None and job.request.done]
        lost = [job for job in done if job.request is not None and job.request.lost]
        for job in lost:
            self._running.discard(job)
            self._end(job, Reply(TargetStatus.INTERNAL_ERROR))
        self._step([job for job in done if job not in lost] if lost else done)

    def _end(self, job: Job, result: Reply) -> None:
        if job.region is not None:
            self._commands.give_back(job.region)
            job.region = None
        job.steps = None
        self._finished.append((job, result))

    def _deliver(self) -> None:
        if self._finished:
            finished, self._finished = self._finished, []
            with suppress(RuntimeError):  # the event loop has ended
                self._loop.call_soon_threadsafe(_tell, finished)

    def _fail(self, error: Exception) -> None:
        if self.fault is None:
            line = f"the device has stopped: {type(error).__name__}: {error}"
            self._loop.call_soon_threadsafe(self._say, line)
        self.fault = error
        self._end_all()

    def _end_all(self) -> None:
        jobs = [*self._running, *self._waiting]
        self._running.clear()
        self._waiting.clear()
        for job in jobs:
            self._end(job, Reply(TargetStatus.INTERNAL_ERROR))


class DeviceInLoop(DeviceThread):
    """Runs the device in the event loop itself: for a Link without time, whose commands end at once.

    Only a recovery, which may take long, has a thread. Jobs wait for its end.
    """

    def __init__(self, device: Device, say: Callable[[str], None]) -> None:
        super().__init__(device, say)
        self._most = min(self._most, _JOBS_OF_A_TURN)

    _scheduled = False
    _recovery: threading.Thread | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def stop(self) -> None:
        self._ended = True
        if self._recovery is not None:
            self._recovery.join()

    def lose_power(self) -> "Future[None]":
        future: Future[None] = Future()

        def lose() -> None:
            error: Exception | None = None
            try:
                self._lose_power(self.device)
            except Exception as found:
                error = found
            with suppress(RuntimeError):  # the event loop has ended
                self._loop.call_soon_threadsafe(end, error)

        def end(error: Exception | None) -> None:
            self._recovery = None
            if error is None:
                future.set_result(None)
            else:
                self._fail(error)
                future.set_exception(error)
            self._notify()

        self._recovery = threading.Thread(target=lose, name="nvme recovery", daemon=True)
        self._recovery.start()
        return future

    def _notify(self) -> None:
        if not self._scheduled and self._recovery is None:
            self._scheduled = True
            self._loop.call_soon(self._pass)

    def _pass(self) -> None:
        self._scheduled = False
        if self._ended or self._recovery is not None:
            return
        self._turn()
        finished, self._finished = self._finished, []
        _tell(finished)
        if self._new or self._running or self._waiting:
            self._notify()


def _tell(finished: list[tuple[Job, Reply]]) -> None:
    for job, result in finished:
        job.done(result)


_NOTHING = Space(0, None)  # type: ignore[arg-type]
