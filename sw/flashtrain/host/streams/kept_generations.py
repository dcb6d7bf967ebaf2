"""Generations that an image keeps, so that handles are valid in later processes."""

from flashtrain.host.image import FlashImage
from flashtrain.spec.image import StreamRecord

from .generations import StreamGenerations


class KeptGenerations(StreamGenerations):
    """The generations of a stream; each drop and release is in the image before its command.

    Handles that their user has dropped are not kept: in a later process they are valid until their zone is
    erased.
    """

    def __init__(self, image: FlashImage, nsid: int) -> None:
        super().__init__()
        self._image, self._nsid = image, nsid
        record = image.stream(nsid)
        self._generation, self._released = record.generation, record.released
        if record.drop:
            self._stream_drops = [(record.drop, frozenset())]
        for zone in range(image.geometry.zones):
            if drop := image.zone_drop(nsid, zone):
                self._drops[zone] = [drop]
                # A process may have ended between the two records of a drop.
                self._generation = max(self._generation, drop)

    def drop(self, zone: int | None = None) -> int:
        number = super().drop(zone)
        self._keep(zone)
        return number

    def undo(self, drop: int) -> None:
        zones = [zone for zone, drops in self._drops.items() if drop in drops]
        super().undo(drop)
        for zone in zones or [None]:
            self._keep(zone)

    def release(self) -> None:
        super().release()
        self._keep_stream()

    def _keep(self, zone: int | None) -> None:
        """Write the drops of one zone, or of all."""
        if zone is not None:
            self._image.set_zone_drop(self._nsid, zone, max(self._drops[zone], default=0))
        elif any(spared for _, spared in self._stream_drops):
            for each in range(self._image.geometry.zones):
                self._image.set_zone_drop(self._nsid, each, self.last_drop(each))
        self._keep_stream()

    def _keep_stream(self) -> None:
        drop = max((number for number, spared in self._stream_drops if not spared), default=0)
        self._image.set_stream(self._nsid, StreamRecord(self._generation, drop, self._released))
