"""How much time a worker leaves between its calls."""

from __future__ import annotations

_WORTH = 16  # messages that come during a cooldown: then a fetch for all of them saves that many
_WINDOW = 0.2
_OFF_MAX = 64  # windows
_LEASE = 200  # how much shorter than a lease it is at least, so that no ack is late


class Cooldown:
    """Decides whether a worker leaves some time between two fetches, in seconds.

    It does only while so many messages come that they would keep it busy one by one. Where the next messages come only
    once these are done, as of jobs that send others, time between fetches makes fewer come. So it looks whether they
    do, window by window.
    """

    def __init__(self, time: float, lease: float) -> None:
        self.time = min(time, lease / _LEASE)
        """Between the begins of two fetches; 0: never any."""
        self.on = False
        self._since: float | None = None  # begin of the window
        self._messages = 0  # in the window
        self._usual = 0.0  # messages a second in the window before it was switched on
        self._off = 0  # windows to come in which it stays off
        self._off_next = 1  # so many the next time that it made fewer messages come

    def left(self, ago: float) -> float:
        """Return how long to wait for the begin of a fetch after one that began so long ago."""
        return max(self.time - ago, 0.0) if self.on else 0.0

    def fetched(self, now: float, messages: int, full: bool) -> None:
        """See a fetch. A full one tells how quick the worker is, not how many messages come."""
        if full or self._since is None:
            self._since, self._messages = now, 0
            return
        self._messages += messages
        length = now - self._since
        if length >= _WINDOW:
            self._judge(self._messages / length)
            self._since, self._messages = now, 0

    def _judge(self, rate: float) -> None:
        """See a window in which so many messages came a second."""
        if self.on and rate < self._usual * 2 / 3:
            self.on, self._off = False, self._off_next
            self._off_next = min(2 * self._off_next, _OFF_MAX)
        elif self.on:
            self._off_next = 1
        elif self._off > 0:
            self._off -= 1
        elif rate * self.time >= _WORTH:
            self.on, self._usual = True, rate
