"""Commands on streams whose data are dropped."""

from flashtrain.host.functional.content import StreamContent
from flashtrain.host.functional.executor import Executor
from flashtrain.host.functional.submission_entry import SubmissionEntry


class DatalessExecutor(Executor):
    """Answers commands as the functional model does, with all rules of zones, rights and generations.

    No page is stored or computed. A read leaves the tensor buffer as it is.
    """

    def _store(self, entry: SubmissionEntry, content: StreamContent, index: int, pointer: int) -> None:
        """Nothing is programmed."""

    def _fetch(self, entry: SubmissionEntry, content: StreamContent, index: int, offset: int) -> int:
        return 0

    def _update_tiles(
        self, entry: SubmissionEntry, content: StreamContent, index: int, source: StreamContent, pointer: int
    ) -> bool:
        return False
