"""Rows about the set-up: paths, how they differ, sessions and turns."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from checks.servers.paths import PathComparison
from checks.sessions.evidence import SessionEvidence
from traces.bands import band_of
from traces.journal.exchange import Exchange
from traces.journal.path_facts import PathFacts
from traces.journal.served_parsers import ServedParsers
from traces.journal.vllm_flags import parse_flags


def path_rows(
    run: str,
    facts: Mapping[str, Sequence[PathFacts]],
    served: Mapping[str, ServedParsers],
    speculative_config: Mapping[str, Any],
    drafter_config: Mapping[str, Any] | None,
    fingerprints: Mapping[str, Collection[str]],
) -> Iterator[dict[str, Any]]:
    """One row per path."""
    for path, servers in facts.items():
        first = servers[0]
        flags = parse_flags(first.command) if first.command else {}
        model = first.models[0] if first.models else None
        prints = fingerprints.get(path, ())
        row = {
            "run": run,
            "path": path,
            "url": " ".join(server.url for server in servers),
            "launched": first.command is not None,
            "vllm_version": first.version,
            "model": model.id if model else None,
            "max_model_len": model.max_model_len if model else None,
            "flags": list(first.command) if first.command else None,
            "tool_parser": served[path].tool,
            "reasoning_parser": served[path].reasoning,
            "dtype": _flag(flags, "--dtype"),
            "block_size": first.block_size,
            "system_fingerprint": next(iter(prints)) if len(prints) == 1 else None,
            "template_hash": _template_hash(first.probe_ids),
            "facts": asdict(first),
        }
        if path == "candidate":
            row |= {
                "speculative_config": speculative_config or None,
                "method": speculative_config.get("method"),
                "num_speculative_tokens": speculative_config.get("num_speculative_tokens"),
                "drafter_config": drafter_config,
            }
        yield row


def _template_hash(probe_ids: Sequence[int] | None) -> str | None:
    """16 hex digits of the SHA-256 of the ids as text, ``1 2 3``; equal templates have equal ones,
    as far as the probe conversation reaches."""
    if probe_ids is None:
        return None
    return hashlib.sha256(" ".join(map(str, probe_ids)).encode()).hexdigest()[:16]


def _flag(flags: Mapping[str, tuple[str, ...]], name: str) -> str | None:
    return " ".join(flags[name]) if name in flags else None


def difference_rows(run: str, comparison: PathComparison) -> Iterator[dict[str, Any]]:
    """One row per visible difference; speculation explains those that are allowed."""
    for name, baseline, candidate in comparison.explained:
        yield {
            "run": run,
            "field": name,
            "baseline": baseline,
            "candidate": candidate,
            "allowed": True,
        }
    for number, finding in enumerate(comparison.findings):
        yield {
            "run": run,
            "field": f"{finding.detail.get('aspect', 'difference')} {number}",
            "baseline": finding.baseline,
            "candidate": finding.candidate,
            "allowed": False,
        }


def session_rows(run: str, session: SessionEvidence, half: str | None) -> Iterator[dict[str, Any]]:
    """The row of a session, where it was planned; `half` says what it served in the judgement."""
    facts, answered = session.facts, session.captures.of("candidate")
    if facts is None:
        return
    sent = (turn.turn for turn in facts.turns if turn.skipped is None)
    yield {
        "run": run,
        "session": facts.session,
        "format": facts.format,
        "source": facts.source,
        "sha256": facts.sha256,
        "template": facts.template,
        "tags": dict(facts.tags),
        "half": half,
        "turns": len(facts.turns),
        "turns_replayed": sum((facts.session, turn) in answered for turn in sent),
    }


def turn_rows(run: str, session: SessionEvidence) -> Iterator[dict[str, Any]]:
    """One row per recorded turn."""
    if session.facts is None:
        return
    answered = session.captures.of("candidate")
    for turn in session.facts.turns:
        key = (session.session, turn.turn)
        reason = turn.skipped or session.too_long.get(key)
        yield {
            "run": run,
            "session": session.session,
            "turn": turn.turn,
            "turn_index": turn.index,
            "thread": None if turn.thread == "main" else turn.thread,
            **_as_sent(answered.get(key)),
            "replayable": reason is None,
            "skip_reason": reason,
            "fidelity": turn.fidelity,
        }


def _as_sent(exchange: Exchange | None) -> dict[str, Any]:
    """What the candidate was asked for a turn, and how long its prompt was."""
    request = exchange.request if exchange else {}
    usage = exchange.response.usage if exchange else None
    prompt = usage.prompt if usage else None
    choice = request.get("tool_choice")
    return {
        "context_tokens": prompt,
        "context_band": None if prompt is None else band_of(prompt),
        "tools": len(request.get("tools") or ()) if exchange else None,
        "tool_choice": choice if isinstance(choice, str) or choice is None else "named",
        "temperature": request.get("temperature"),
        "max_tokens": request.get("max_tokens"),
    }
