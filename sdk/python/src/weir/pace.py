"""How many messages a worker holds, and how much time it leaves between its calls."""

from __future__ import annotations

_WAIT_MAX = 0.1  # seconds that messages shall wait in a worker for a handler, at most
_MANY = 1000  # messages; a claim of so many costs little more than one of a few
_WORTH = 16  # messages that come during a cooldown: then a fetch for all of them saves that many
_WINDOW = 0.2
_OFF_MAX = 64  # windows
_LEASE = 200  # how much shorter than a lease it is at least, so that no ack is late


class Pace:
    """Decides how many messages a worker holds.

    As many as its handlers work off in ``_WAIT_MAX``, so that few calls serve quick handlers, and no message waits here
    for slow ones that another worker could begin with.
    """

    def __init__(self, concurrency: int, most: int) -> None:
        self._concurrency, self._most = concurrency, most
        self._least = min(2 * concurrency, most)
        self.now = self._least
        """Between the two."""
        self._took = 0.0  # a handler, by and by
        self._ended = 0  # handlers, since the last fetch
        self._sum = 0.0  # that they took
        self._wait = 0.0  # the longest from a claim to the begin of a handler, since the last fetch

    def claim_max(self) -> int:
        """Return how many a fetch asks for at most: half of many, so that handlers have the other half meanwhile."""
        return self.now // 2 if self.now >= _MANY else self.now

    def began(self, wait: float) -> None:
        """See a handler begin with a message that was claimed so long ago."""
        self._wait = max(self._wait, wait)

    def did(self, took: float) -> None:
        """See a handler end that took so long."""
        self._ended += 1
        self._sum += took

    def fetched(self, full: bool) -> None:
        """See a fetch.

        One that got all it asked for doubles the number, if handlers have ended since the one before. A message that
        had waited too long lowers it, and so do slow handlers.
        """
        if self._ended:
            took = self._sum / self._ended
            self._took = max((self._took + took) / 2 if self._took else took, 1e-9)
            self.now = min(self.now * (2 if full else 1), int(self._concurrency * _WAIT_MAX / self._took))
        if self._wait > _WAIT_MAX:
            self.now = int(self.now * _WAIT_MAX / self._wait)
        self.now = min(max(self.now, self._least), self._most)
        self._wait, self._ended, self._sum = 0.0, 0, 0.0

    def slowed(self, held: int) -> int:
        """See a message wait for much too long, and return how many of those held are too many."""
        self.now = self._least
        return max(held - self._least, 0)


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
