"""Calls over HTTP, to a ``weir serve``."""

from __future__ import annotations

from typing import Any, TypeVar

from weir import errors
from weir.calls import Call, Request
from weir.runtime import AsyncToken, async_value_of

T = TypeVar("T")

# Beyond what the server may take on purpose.
_TIMEOUT = 30.0
_CREATED = 201


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise ImportError("HTTP needs the module httpx: pip install 'weirmq[http]'") from error
    return httpx


class AsyncHttp:
    """A client of httpx and the requests of the calls."""

    def __init__(self, client: Any, *, owned: bool, token: AsyncToken | None = None) -> None:
        self._client = client
        self._owned = owned
        self._token = token

    @classmethod
    def at(cls, url: str, token: AsyncToken | None = None) -> AsyncHttp:
        """Return a transport to the server at a URL."""
        return cls(_httpx().AsyncClient(base_url=url, timeout=_TIMEOUT), owned=True, token=token)

    async def run(self, call: Call[T]) -> T:
        """Do a call."""
        request = call.request()
        if request is None:
            raise errors.Error(
                errors.NOT_SUPPORTED, f"{call.name} is not there over HTTP", hint="Connect to PostgreSQL."
            )
        return call.answer(await self.post(request))

    async def post(self, request: Request) -> Any:
        """Send a request and return the JSON of the answer."""
        httpx = _httpx()
        headers = {}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {await async_value_of(self._token)}"
        try:
            answer = await self._client.request(
                request.method,
                request.path,
                json=request.body,
                params=request.query,
                headers=headers,
                timeout=_TIMEOUT + request.wait,
            )
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise errors.no_server(error) from error
        except httpx.TransportError as error:
            text = f"the connection to the server broke: {error!r}"
            raise errors.Error(errors.CONNECTION_FAILURE, text, reported=False) from error
        if answer.is_success:
            if request.makes:
                return answer.status_code == _CREATED
            return answer.json() if answer.content else None
        try:
            problem = answer.json()
        except ValueError:
            problem = {"detail": f"the server answered {answer.status_code}: {answer.text[:200]}"}
        raise errors.from_problem(answer.status_code, problem)

    async def aclose(self) -> None:
        """Close the client, if it was made here."""
        if self._owned:
            await self._client.aclose()


class AsyncGathered:
    """A transaction over HTTP: its calls are gathered, and sent as one request when it ends."""

    def __init__(self) -> None:
        self._acks: list[Any] = []
        self._finishes: list[Any] = []
        self._sends: list[Any] = []

    async def run(self, call: Call[T]) -> T:
        """Note a call; its result is not known before the transaction ends."""
        request = call.request()
        if request is None or call.name not in {"send", "send_batch", "ack", "ack_all", "finish"}:
            text = f"{call.name} cannot be part of a transaction over HTTP"
            hint = "Only send, send_batch, ack, ack_all and finish can; or use PostgreSQL."
            raise errors.Error(errors.NOT_SUPPORTED, text, hint=hint)
        queue = request.path.split("/")[3]
        if call.name in {"ack", "ack_all"}:
            self._acks += [{"queue": queue} | item for item in request.body["acks"]]
            return call.answer({"acks": [{"finished": 1}]})  # else the request fails as a whole
        if call.name == "finish":
            self._finishes += [{"queue": queue} | job for job in request.body["jobs"]]
            return call.answer({"jobs": [{"finished": 1}]})  # likewise
        self._sends.append({"queue": queue} | request.body)
        return call.answer({"ids": [0] * len(request.body["messages"])})

    async def commit(self, http: AsyncHttp) -> None:
        """Send what was gathered."""
        body = {"acks": self._acks, "finishes": self._finishes, "sends": self._sends}
        given = {name: part for name, part in body.items() if part}
        if given:
            await http.post(Request("POST", "/v1/transaction", given))

    async def aclose(self) -> None:
        """Nothing is open."""
