"""Asking one server what it is: `traces.journal.path_facts.PathFacts` from its public routes."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client.samples import Sample

from replay.facts.model_list import ROUTE, models_of
from replay.facts.observe import observe
from replay.facts.probes import CONVERSATION, MARKUPS, parsed, parser_probe
from replay.facts.prometheus import parse_metrics, total
from replay.launch.draft_ids import refusal
from replay.launch.server import Server
from replay.sending.endpoint import Endpoint
from traces.errors import ServerError
from traces.journal.observables import Observables
from traces.journal.path_facts import SERVED, ModelFacts, PathFacts
from traces.journal.vllm_flags import without_secrets

CACHE_INFO = "vllm:cache_config_info"
DYING_S = 5.0
"""A server whose engine has died answers a little longer, and then ends."""

DRAFTS = "vllm:spec_decode_num_drafts_total"
GENERATED = "vllm:generation_tokens_total"
"""A counter of every server that counts at all (``--disable-log-stats`` takes them all)."""

STARTED = "process_start_time_seconds"
COUNTING = "vllm:generation_tokens_created"


async def gather_facts(
    path: str,
    url: str,
    model: str,
    *,
    api_key: str = "",
    server: Server | None = None,
    probe_parsers: bool = True,
) -> PathFacts:
    """Everything the server at `url` says; `server` adds what is known of a launched one.

    Raises ServerError where it cannot be reached, or does not serve `model`.
    """
    try:
        return await _ask(path, url, model, api_key, server, probe_parsers)
    except ServerError:
        if server is not None:
            await server.wait_for_end(DYING_S)
            server.check_alive("while it was asked what it is")
        raise


async def _ask(
    path: str, url: str, model: str, api_key: str, server: Server | None, probe_parsers: bool
) -> PathFacts:
    async with Endpoint(url, api_key=api_key) as endpoint:
        models = models_of(await endpoint.get_json(ROUTE), endpoint.base_url)
        _refuse_unknown_model(path, url, model, models)
        version = await endpoint.get_json("/version")
        before = await _samples(endpoint)
        tokenized = await endpoint.tokenize(model, CONVERSATION)
        probes = await _parsers(endpoint, model) if probe_parsers else None
        observables = await observe(url, model, api_key=api_key, drafts=_counts_drafts(before))
        after = await _samples(endpoint)
    if observables.refused is not None:
        raise ServerError(
            f"path {path}: {url} refuses the gate's request: {observables.refused}",
            "take what it refuses out of the server's flags, or use vLLM 0.32 or later",
        )
    return PathFacts(
        path=path,
        url=url,
        version=_version(version),
        models=models,
        cache=_cache(before),
        probe_ids=tokenized.ids if tokenized else None,
        parser_probe=probes,
        command=without_secrets(server.command) if server else None,
        non_default_args=server.non_default_args() if server else None,
        speculation_metrics=_counts_drafts(before),
        drafts_counted=_growth(before, after, DRAFTS),
        started_at=total(before, STARTED),
        counting_since=min(_finite(before, COUNTING), default=None),
        observables=observables,
        draft_ids=_draft_ids(server, observables),
    )


def _draft_ids(server: Server | None, seen: Observables) -> str | None:
    """Of a server that was launched with draft ids: whether it serves them."""
    if server is None or not server.spec.draft_ids:
        return None
    if seen.draft_ids is False:
        return refusal(server.log_text()) or "its answers do not carry them"
    return refusal(server.log_text()) or SERVED


async def _samples(endpoint: Endpoint) -> list[Sample]:
    """What ``/metrics`` holds; nothing where the server does not serve it."""
    text = await endpoint.get_text("/metrics")
    return [] if text is None else parse_metrics(text)


def _counts_drafts(samples: list[Sample]) -> bool | None:
    """vLLM has counters of speculation exactly where a drafter is configured."""
    if total(samples, DRAFTS) is not None:
        return True
    return None if total(samples, GENERATED) is None else False


def _growth(before: list[Sample], after: list[Sample], name: str) -> float | None:
    first, last = total(before, name), total(after, name)
    return None if first is None or last is None else last - first


def _finite(samples: list[Sample], name: str) -> Iterator[float]:
    return (s.value for s in samples if s.name == name and math.isfinite(s.value))


def _version(answer: Any) -> str | None:
    version = answer.get("version") if isinstance(answer, dict) else None
    return version if isinstance(version, str) else None


def _refuse_unknown_model(
    path: str, url: str, model: str, models: tuple[ModelFacts, ...] | None
) -> None:
    known = [entry.id for entry in models or ()]
    if models is not None and model not in known:
        raise ServerError(
            f"path {path}: {url} does not serve the model {model!r}; it serves "
            f"{', '.join(known) or 'nothing'}",
            "set `server.served_model_name` to a model both paths serve",
        )


def _cache(samples: list[Sample]) -> Mapping[str, str] | None:
    """Labels of the first engine; all engines of a server share one configuration."""
    for sample in samples:
        if sample.name == CACHE_INFO:
            return dict(sample.labels)
    return None


async def _parsers(endpoint: Endpoint, model: str) -> dict[str, str] | None:
    """Markup -> what the server parsed; None where it answers no probe at all.

    A probe without an answer in time tells nothing, and ends the probing: whether the server is
    alive at all is seen by the request that follows.
    """
    parses: dict[str, str] = {}
    for markup in MARKUPS:
        request = parser_probe(model, markup)
        try:
            text = parsed(await endpoint.post_json("/v1/chat/completions", request))
        except ServerError:
            break
        if text is not None:
            parses[markup] = text
    return parses or None
