"""A run: scene after scene, each with devices of its own, until so many commands were answered."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from flashtrain.host.link import Link, LinkFactory
from flashtrain.spec import FlashtrainError, FmsConfig, Status

from .acts import Act, Cut, Submit
from .command import FuzzCommand
from .director import Director
from .disagreement import Disagreement
from .minimise import minimised
from .scene import Scene
from .stage import Stage

COMMANDS_PER_SCENE = 1000
MEMORY_PAGES = 512


@dataclass
class Tally:
    """Answers. opcodes: of commands that succeeded; undecided: shared batches that were not judged; unjudged:
    their commands."""

    commands: int = 0
    unjudged: int = 0
    batches: int = 0
    shared_batches: int = 0
    scenes: int = 0
    cuts: int = 0
    undecided: int = 0
    longest_batch: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    opcodes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def count(self, command: FuzzCommand, status: Status) -> None:
        self.commands += 1
        self.statuses[status.name] += 1
        self.kinds[command.kind] += 1
        self.opcodes[command.name if status is Status.SUCCESS else "(refused)"] += 1

    @property
    def judged(self) -> int:
        """Commands whose answers were compared with the contract's."""
        return self.commands - self.unjudged

    def document(self) -> dict[str, object]:
        counts = {
            name: dict(value) if isinstance(value, Counter) else value for name, value in vars(self).items()
        }
        return {"judged": self.judged, **counts}


@dataclass(frozen=True)
class Fuzz:
    """A fuzz run: devices of `config` behind each of the named Links execute the same commands.

    `minimising_seconds` limits the search for the fewest commands that still show a disagreement.
    """

    config: FmsConfig
    links: dict[str, LinkFactory]
    seed: int
    minimising_seconds: float = 60.0

    def run(self, commands: int, progress: Callable[[Tally], None], first_scene: int = 0) -> Tally:
        """:class:`Disagreement` with all that is needed to see it again; else what was done."""
        tally, started = Tally(), time.monotonic()
        while tally.commands < commands:
            most = min(COMMANDS_PER_SCENE, commands - tally.commands)
            self._run_scene(first_scene + tally.scenes, most, tally, progress, started)
            tally.scenes += 1
        tally.seconds = time.monotonic() - started
        return tally

    def _open(self, number: int) -> tuple[Random, Scene, dict[str, Link]]:
        random = Random(f"{self.seed}/{number}")
        g = self.config.geometry
        # Gradients of a row of tiles take a page set of each channel at most.
        total = max(MEMORY_PAGES, 4 * g.channels * g.planes) * g.page_bytes
        scene = Scene.random(random, self.config, total)
        return random, scene, {name: make(self.config, total) for name, make in self.links.items()}

    def _run_scene(
        self, number: int, commands: int, tally: Tally, progress: Callable[[Tally], None], started: float
    ) -> None:
        random, scene, links = self._open(number)
        before, acts = tally.commands, []
        stage = Stage(scene, links, tally.count)
        try:
            director = Director(random, stage)
            while (left := before + commands - tally.commands) > 0:
                self._act(director, stage, acts, left, tally)
                tally.seconds = time.monotonic() - started
                progress(tally)
        except FlashtrainError as error:
            raise self._found(number, tally, acts, error) from error
        finally:
            tally.undecided += stage.undecided
            tally.unjudged += stage.unjudged
            tally.longest_batch = max(tally.longest_batch, stage.longest_batch)
            for link in links.values():
                link.close()

    def _act(self, director: Director, stage: Stage, acts: list[Act], left: int, tally: Tally) -> None:
        act, batch = director.next(left)
        acts.append(act)
        if batch is None:
            stage.perform(act)
        elif isinstance(act, Cut):
            stage.cut(batch, act)
            tally.cuts += 1
        elif isinstance(act, Submit):
            stage.submit(batch, act)
            tally.batches += 1
            tally.shared_batches += act.shared

    def _found(self, number: int, tally: Tally, acts: list[Act], error: FlashtrainError) -> Disagreement:
        """The report: how to reproduce the disagreement, and the fewest acts that show it."""

        def replay(some: list[Act]) -> FlashtrainError | None:
            _, scene, links = self._open(number)
            try:
                stage = Stage(scene, links, lambda command, status: None)
                for act in some:
                    stage.perform(act)
            except FlashtrainError as again:
                return again
            finally:
                for link in links.values():
                    link.close()
            return None

        return Disagreement(
            f"seed {self.seed}, scene {number}, within the batch after command {tally.commands}:\n{error}\n"
            f"{minimised(acts, replay, self.minimising_seconds)}"
        )
