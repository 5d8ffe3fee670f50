"""A stand-in for vLLM that speaks its wire format over the paper model, faults on demand."""

import asyncio
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.paper.model import END, START, PaperModel, Vocabulary, grammar, split
from tests.support.paper.routes import route_events
from tests.support.paper.stream import Stream, stream_chunks
from tests.support.route_streams import Event, wire
from traces.routes.asking import chat_view
from traces.wire.route import PATHS, ROUTES, Route

DONE = b"data: [DONE]\n\n"


@dataclass
class Faults:
    """What is wrong with this server. `spoil` edits the stream of one answer before it is sent;
    `refuse` gives (status, body) for a request that is refused; `die_after` ends the server's
    answers after so many chat requests; `drafts` is off on a baseline; `template` is put before
    every prompt. `draws` is on where sampled turns follow the distribution, at `heat` times their
    temperature; else they are answered as greedy ones. Its counters say `counted` times what it
    sent, and `others` tokens more per request, as if it served other clients. `bare` leaves all
    routes out but models and chat, `mute_scorer` ends the connection of every scoring request,
    `hangs` gives the seconds before an answer begins, `stalls` those before its last chunk, `paces`
    those before every chunk. `after_abort` edits the answer that follows a stream whose client
    went away.

    `rewire` edits the events of an answer on `/v1/messages` and `/v1/responses`, and `routes` are
    those the server has.

    To the first `busy` requests of an arm it says to come back; the next `drops` it drops. `loses`
    gives the seconds after which the connection of a request is lost; None: it is not.

    Flags of vLLM: `metrics` is its --per-request-spec-decode-metrics, `cached` its
    --enable-prompt-tokens-details, `counts` is off under --disable-log-stats, `raw` stands for raw
    logprobs. An `idle` drafter is configured and drafts nothing. `started` is when its process
    began; by default every server has a time of its own.
    """

    spoil: Callable[[Stream, dict[str, Any]], None] = lambda stream, request: None
    refuse: Callable[[dict[str, Any]], tuple[int, dict[str, Any]] | None] = lambda request: None
    die_after: int | None = None
    drafts: int = 0
    accepts: bool = True
    template: str = ""
    version: str = "0.32.0"
    prompt_logprobs: bool = True
    counted: float = 1.0
    others: int = 0
    model: str = "paper"
    max_model_len: int = 16384
    bare: bool = False
    mute_scorer: bool = False
    metrics: str = "detailed"
    cached: bool = True
    counts: bool = True
    idle: bool = False
    raw: bool = False
    draws: bool = False
    heat: float = 1.0
    started: float | None = None
    hangs: Callable[[dict[str, Any]], float] = lambda request: 0.0
    stalls: Callable[[dict[str, Any]], float] = lambda request: 0.0
    paces: Callable[[dict[str, Any]], float] = lambda request: 0.0
    after_abort: Callable[[Stream, dict[str, Any]], None] | None = None
    routes: tuple[Route, ...] = ("messages", "responses")
    busy: int = 0
    drops: int = 0
    loses: Callable[[dict[str, Any]], float | None] = lambda request: None
    rewire: Callable[[Route, list[Event]], list[Event]] = lambda route, events: events


@dataclass
class PaperServer:
    """One path. Both share a vocabulary."""

    vocabulary: Vocabulary
    faults: Faults = field(default_factory=Faults)
    url: str = ""
    chats: int = 0
    salts: list[str] = field(default_factory=list)
    preempts: bool = False
    running: int = 0
    aborted: int = 0
    dirty: int = 0
    counters: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.model = PaperModel(self.vocabulary)

    def application(self) -> web.Application:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/v1/chat/completions", self.chat)
        if self.faults.bare:
            return app
        app.router.add_get("/health", self.health)
        app.router.add_get("/version", self.version)
        app.router.add_get("/metrics", self.metrics)
        app.router.add_post("/tokenize", self.tokenize)
        app.router.add_post("/v1/completions", self.complete)
        for route in self.faults.routes:
            app.router.add_post(PATHS[route], self.routed)
        return app

    def restart(self) -> None:
        """As a new process of the server looks from outside."""
        self.faults.started = time.time()
        self.counters.clear()

    async def health(self, request: web.Request) -> web.Response:
        return web.Response()

    async def version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": self.faults.version})

    async def models(self, request: web.Request) -> web.Response:
        name = self.faults.model
        entry = {"id": name, "root": name, "max_model_len": self.faults.max_model_len}
        return web.json_response({"data": [entry]})

    async def metrics(self, request: web.Request) -> web.Response:
        lines = ['vllm:cache_config_info{block_size="16",cache_dtype="auto"} 1.0']
        if not self.faults.counts:
            return web.Response(text="\n".join(lines) + "\n")
        lines.append(f"process_start_time_seconds {self.faults.started or id(self)}")
        lines.append(f"vllm:num_requests_running {self.running}")
        lines += ["vllm:num_requests_waiting 0", f"vllm:kv_cache_usage_perc {self.running / 100}"]
        prompts = ("prompt_tokens", "prefix_cache_queries", "prefix_cache_hits")
        names = ["generation_tokens", "num_preemptions", *prompts]
        if self.faults.drafts:
            spec = ("num_drafts", "num_draft_tokens", "num_accepted_tokens")
            names += [f"spec_decode_{name}" for name in spec]
        lines += [f"vllm:{n}_total {self.faults.counted * self.counters[n]}" for n in names]
        for place in range(self.faults.drafts):
            name = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
            lines.append(f'{name}{{position="{place}"}} 0')
        return web.Response(text="\n".join(lines) + "\n")

    def _count(self, stream: Stream, number: int) -> None:
        """What vLLM counts of an answer, whatever the client makes of it."""
        self.counters["prompt_tokens"] += len(stream.prompt)
        self.counters["prefix_cache_queries"] += len(stream.prompt)
        self.counters["generation_tokens"] += len(stream.ids) + self.faults.others
        self.counters["num_preemptions"] += self.preempts and number % 2
        self.counters["spec_decode_num_drafts"] += len(stream.drafted)
        self.counters["spec_decode_num_draft_tokens"] += sum(stream.drafted)
        self.counters["spec_decode_num_accepted_tokens"] += sum(stream.accepted)

    async def tokenize(self, request: web.Request) -> web.Response:
        ids = self._prompt(await request.json())
        return web.json_response(
            {"tokens": ids, "count": len(ids), "max_model_len": self.faults.max_model_len}
        )

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.chats += 1
        self.salts.append(body.get("cache_salt", ""))
        number = self.chats
        if self.faults.die_after is not None and self.chats > self.faults.die_after:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if self.faults.busy and body.get("cache_salt", "").endswith("-main"):
            self.faults.busy -= 1
            error = {"error": {"message": "busy", "code": 503}}
            return web.json_response(error, status=503, headers={"Retry-After": "0"})
        if self.faults.drops and body.get("cache_salt", "").endswith("-main"):
            self.faults.drops -= 1
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if (pause := self.faults.loses(body)) is not None:
            await asyncio.sleep(pause)
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        refusal = self.faults.refuse(body)
        if refusal is not None:
            return web.json_response(refusal[1], status=refusal[0])
        await asyncio.sleep(self.faults.hangs(body))
        prompt = self._prompt(body)
        answer = self.model.answer(prompt, body.get("tools") or [], grammar(body))
        drafts = 0 if self.faults.idle else self.faults.drafts
        drawn = self._drawn(prompt, answer, body)
        stream = Stream.of(self.model, prompt, answer, body, drafts, self.faults.accepts, drawn)
        stream.metrics = self.faults.metrics if self.faults.drafts else "none"
        if not self.faults.cached:
            del stream.usage["prompt_tokens_details"]
        if body.get("temperature", 0) > 0 and body.get("cache_salt") == "probe":
            stream.warm(body["temperature"], raw=self.faults.raw)
        self._count(stream, number)
        self.faults.spoil(stream, body)
        if self.dirty and self.faults.after_abort is not None:
            self.dirty -= 1
            self.faults.after_abort(stream, body)
        if not body.get("stream"):
            message = {"role": "assistant", "content": "".join(stream.texts)}
            return web.json_response({"choices": [{"index": 0, "message": message}]})
        response = web.StreamResponse()
        response.content_type = "text/event-stream"
        await response.prepare(request)
        self.running += 1
        chunks = list(stream_chunks(stream, body))
        try:
            for place, chunk in enumerate(chunks, start=1):
                await asyncio.sleep(self.faults.paces(body))
                if place == len(chunks):
                    await asyncio.sleep(self.faults.stalls(body))
                await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            if stream.done:
                await response.write(DONE)
            await response.write_eof()
        except ConnectionError:
            self.aborted, self.dirty = self.aborted + 1, self.dirty + 1
        finally:
            self.running -= 1
        return response

    async def routed(self, request: web.Request) -> web.StreamResponse:
        """The answer of a chat, on another route."""
        body = await request.json()
        (route,) = (name for name in ROUTES if PATHS[name] == request.path)
        chat = chat_view(route, body)
        prompt = self._prompt(chat)
        answer = self.model.answer(prompt, chat.get("tools") or [], grammar(chat))
        drafts = self.faults.drafts
        stream = Stream.of(self.model, prompt, answer, chat, drafts, self.faults.accepts)
        self._count(stream, self.chats)
        events = self.faults.rewire(route, route_events(route, stream))
        return web.Response(body=wire(events), content_type="text/event-stream")

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if self.faults.mute_scorer:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        prompt, output = split(body["prompt"], self.vocabulary.id(START))
        answer = self._answers[tuple(prompt)]
        if body.get("stream"):
            return await self._continue(request, body, prompt, output)
        if not body.get("prompt_logprobs"):
            distribution = self.model.distribution(prompt, answer, len(output))
            best = max(distribution, key=lambda token: distribution[token])
            logprobs = {"token_logprobs": [distribution[best]], "top_logprobs": [{}]}
            choice = {
                "token_ids": [best],
                "text": self.vocabulary.pieces[best],
                "logprobs": logprobs,
            }
            return web.json_response({"choices": [choice]})
        if not self.faults.prompt_logprobs:
            return web.json_response({"choices": [{"text": ""}]})
        rows: list[Any] = [None] + [{str(t): {"logprob": -0.1}} for t in prompt[1:]]
        for place, token in enumerate(output):
            distribution = self.model.distribution(prompt, answer, place)
            best = max(distribution, key=lambda t: distribution[t])
            if body["prompt_logprobs"] > 1:
                wide = self.model.listed(prompt, answer, place, body["prompt_logprobs"])
                rows.append({str(t): {"logprob": p} for t, p in wide.items()})
                continue
            listed = {token: distribution.get(token, -12.0), best: distribution[best]}
            rows.append({str(t): {"logprob": p} for t, p in listed.items()})
        return web.json_response({"choices": [{"prompt_logprobs": rows}]})

    async def _continue(
        self, request: web.Request, body: dict[str, Any], prompt: list[int], output: list[int]
    ) -> web.StreamResponse:
        """A greedy continuation, token by token, with the listed scores of each."""
        answer = self._answers[tuple(prompt)]
        response = web.StreamResponse()
        response.content_type = "text/event-stream"
        await response.prepare(request)
        for place in range(len(output), len(output) + body["max_tokens"]):
            distribution = self.model.distribution(prompt, answer, place)
            best = max(distribution, key=lambda token: distribution[token])
            wanted = (
                body.get("logprob_token_ids")
                or sorted(distribution, key=lambda t: -distribution[t])[:5]
            )
            listed = {
                f"token_id:{t}": distribution.get(t, -12.0) for t in dict.fromkeys([best, *wanted])
            }
            row = {"token_logprobs": [distribution[best]], "top_logprobs": [listed]}
            chunk = {"choices": [{"token_ids": [best], "logprobs": row}]}
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            if best == self.end:
                break
        await response.write(DONE)
        await response.write_eof()
        return response

    def _drawn(
        self, prompt: list[int], answer: list[int], body: dict[str, Any]
    ) -> list[int] | None:
        """The tokens of a sampled turn; None where the answer's own are sent."""
        temperature = body.get("temperature", 0) * self.faults.heat
        if not self.faults.draws or not temperature or body.get("cache_salt") == "probe":
            return None
        path_and_arm = body.get("cache_salt", "").split("-")[-2:]
        chance = random.Random(f"{path_and_arm} {prompt}")
        return self.model.drawn(prompt, answer, temperature, body["max_tokens"], chance)

    def _prompt(self, body: dict[str, Any]) -> list[int]:
        before = self.vocabulary.encode(self.faults.template)
        prompt = [*before, *self.model.prompt_ids(body)]
        tools = body.get("tools") or []
        self._answers[tuple(prompt)] = self.model.answer(prompt, tools, grammar(body))
        return prompt

    _answers: dict[tuple[int, ...], list[int]] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.vocabulary.id(END)


@contextmanager
def served(*servers: PaperServer) -> Iterator[None]:
    """Run the servers in a thread of their own while the context lasts."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def start() -> None:
        for server in servers:
            runner = web.AppRunner(server.application())
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            sockets = site._server.sockets  # type: ignore[union-attr]
            server.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
        ready.set()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(start())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
