"""Queues' own functions, whose names the engine tells: what calls them spares it the finding and the planning."""

from __future__ import annotations

import threading

from weir.calls.call import OwnCall

# An older engine has no such function; a role may have been granted less. Neither is to be an error, which would
# end the caller's transaction.
TELLS = "select coalesce(has_function_privilege(to_regprocedure('weir.queue_function(text,text)'), 'execute'), false)"
NAME = "select weir.queue_function(%s::text, %s::text)"

GONE = "42883"
"""What the database says when a queue's own function is not there: undefined_function."""

_AFTER = 8
"""Calls that go through the public function before a name is asked for: a program that makes few is not to pay."""
KEPT_MAX = 256
"""Statements that a client keeps, and so does each of its connections."""


class OwnCalls:
    """The statements that call queues' own functions; of those not asked for yet, how many calls there were.

    Nothing tells when a queue is dropped or renamed; the call fails then, and its statement is forgotten.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._silent = False
        self._calls: dict[tuple[str, str], str | int] = {}

    def find(self, call: OwnCall) -> tuple[str | None, bool]:
        """Return the statement, if it is known, and else whether it is time to ask for the name."""
        with self._lock:
            found = self._calls.get(call.key, 0)
            if isinstance(found, str):
                return found, False
            if self._silent or (found == 0 and not self._room()):
                return None, False
            self._calls[call.key] = found + 1
            return None, found >= _AFTER

    def expect(self, call: OwnCall) -> None:
        """Have the name asked for at the next call: there will be many."""
        with self._lock:
            if call.key not in self._calls and len(self._calls) < KEPT_MAX:
                self._calls[call.key] = _AFTER

    def _room(self) -> bool:
        """Whether there is room for one more. Those called a few times make some, also those of no queue."""
        if len(self._calls) >= KEPT_MAX:
            self._calls = {key: known for key, known in self._calls.items() if isinstance(known, str)}
        return len(self._calls) < KEPT_MAX

    def keep(self, call: OwnCall, name: str) -> str:
        """Note the name of a queue's own function and return the statement that calls it."""
        sql = call.sql.format(function=name)
        with self._lock:
            self._calls[call.key] = sql
        return sql

    def forget(self, call: OwnCall) -> None:
        """Have the name asked for anew, later."""
        with self._lock:
            self._calls.pop(call.key, None)

    def give_up(self) -> None:
        """Note that the engine tells no names."""
        with self._lock:
            self._silent = True
