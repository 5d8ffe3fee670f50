"""Runs made up for the tests: plausible shapes, known sums, hostile text where asked for."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from reports.rows.speed import gap_rows
from reports.schema.records import RunTables
from tests.support.profiled import acceptance_of, speed_of, tools_of

LABELS = ("prose", "code", "tool.markup", "tool.string", "diff.add", "shell.command", "reasoning")
ACCEPTS = {
    "prose": 0.55,
    "code": 0.75,
    "tool.markup": 0.97,
    "tool.string": 0.6,
    "diff.add": 0.7,
    "shell.command": 0.5,
    "reasoning": 0.65,
}
FILLED = (
    "sessions",
    "turns",
    "captures",
    "tokens",
    "steps",
    "draft_positions",
    "tool_calls",
    "pairs",
    "findings",
)
SCOPE = (("decoding", "greedy", 480), ("text", "baseline", 432), ("text", "unseen", 48))
TEMPLATES = ("chatml-terse", "chatml-long")
START = datetime(2026, 5, 26, 9, 30, tzinfo=UTC)


def synthetic_run(
    run: str = "run-a",
    *,
    seed: int = 1,
    sessions: int = 6,
    turns: int = 4,
    tokens: int = 60,
    k: int = 3,
    verdict: str = "pass",
    accept: float = 1.0,
    slow: float = 1.0,
    text: str = "word",
    day: int = 0,
) -> RunTables:
    """One run. `accept` scales every acceptance probability, `slow` the candidate's times."""
    rng = random.Random(seed)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in FILLED}
    for s in range(sessions):
        session = f"session-{s:02}"
        template = TEMPLATES[s % 2]
        rows["sessions"].append(
            {
                "run": run,
                "session": session,
                "format": "openai-chat",
                "source": f"{text}-{s}.jsonl",
                "sha256": f"{s:064x}",
                "template": template,
                "tags": {"team": "blue" if s % 2 else "red"},
                "half": "calibration" if s % 2 else "test",
                "turns": turns + 1,
                "turns_replayed": turns,
            }
        )
        for t in range(turns + 1):
            turn = f"t{t:03}"
            skipped = t == turns
            context = 1500 + 6000 * t
            band = "0-8k" if context < 8192 else "8k-16k" if context < 16384 else "16k-32k"
            rows["turns"].append(
                {
                    "run": run,
                    "session": session,
                    "turn": turn,
                    "turn_index": t,
                    "context_tokens": context,
                    "context_band": band,
                    "tools": 3,
                    "temperature": 0.0,
                    "max_tokens": 256,
                    "replayable": not skipped,
                    "skip_reason": "longer than the server's context" if skipped else None,
                }
            )
            if skipped:
                continue
            key = {"run": run, "session": session, "turn": turn}
            for path, arm in (("candidate", "main"), ("baseline", "main"), ("baseline", "aa")):
                capture = {**key, "path": path, "arm": arm, "attempt": 0}
                pace = 10.0 / slow if path == "candidate" else 16.0
                noise = 1 + 0.05 * rng.random()
                steps = 0
                if path == "candidate":
                    steps = _draft(rng, rows, capture, tokens, k, accept, template, band)
                for i in range(tokens):
                    rows["tokens"].append(
                        {
                            **capture,
                            "token_index": i,
                            "id": 100 + i,
                            "text": f" {text}{i}",
                            "label": LABELS[(i // 9) % len(LABELS)],
                            "logprob": -rng.random(),
                            "is_argmax": True,
                            "regret": 0.0 if path == "candidate" else None,
                            "regret_shape": "decode" if path == "candidate" else None,
                            "step": i // 2,
                        }
                    )
                rows["captures"].append(
                    {
                        **capture,
                        "status": 200,
                        "ended": "done",
                        "finish_reason": "tool_calls" if t % 2 else "stop",
                        "sent_at": START + timedelta(seconds=t, days=day),
                        "prompt_tokens": context,
                        "completion_tokens": tokens,
                        "cached_tokens": context - 500 if t else 0,
                        "ttft_ms": 80.0 * noise,
                        "tpot_ms": pace * noise,
                        "duration_ms": 80 * noise + (tokens - 1) * pace * noise,
                        "max_gap_ms": 3 * pace,
                        "chunks": tokens,
                        "bytes": 300 * tokens,
                        "route": "chat",
                        "drafter_steps": steps or None,
                        "aligned": True if steps else None,
                    }
                )
                if t % 2:
                    broken = path == "candidate" and verdict == "fail" and s == 0
                    rows["tool_calls"].append(
                        {
                            **capture,
                            "call_index": 0,
                            "name": "read_file",
                            "arguments": '{"path": ' + ("" if broken else f'"{text}"') + "}",
                            "arguments_kind": "invalid" if broken else "object",
                            "parsed": not broken,
                            "known": True,
                            "valid": None if broken else True,
                            "problem": "not JSON" if broken else None,
                        }
                    )
            forks = t == 1
            hard = verdict == "fail" and s == 0 and forks
            for comparison in ("candidate", "aa"):
                fork = forks and comparison == "candidate"
                rows["pairs"].append(
                    {
                        **key,
                        "comparison": comparison,
                        "judged": True,
                        "tokens": tokens,
                        "equal": not fork,
                        "fork_index": 20 if fork else None,
                        "fork_kind": ("hard" if hard else "near_tie") if fork else None,
                        "fork_label": LABELS[20 // 9] if fork else None,
                        "crossing": "code>tool.markup" if fork else None,
                        "baseline_text": f" {text}20" if fork else None,
                        "candidate_text": " other" if fork else None,
                        "fork_regret": (2.5 if hard else 0.06) if fork else None,
                        "fork_margin": 0.1 if fork else None,
                        "fork_ulp": (20.0 if hard else 0.5) if fork else None,
                        "max_regret": (2.5 if hard else 0.06) if fork else 0.01,
                        "content_equal": not fork,
                        "calls_equal": not fork,
                        "calls_change": ("consequential" if fork else "same") if t % 2 else None,
                        "baseline_calls_ok": True if t % 2 else None,
                        "candidate_calls_ok": not (hard and t % 2) if t % 2 else None,
                    }
                )
            if forks:
                rows["findings"].append(
                    {
                        "run": run,
                        "ordinal": len(rows["findings"]),
                        "code": "GREEDY_DIVERGENCE" if hard else "NEAR_TIE_FORK",
                        "severity": "error" if hard else "info",
                        "session": session,
                        "turn": turn,
                        "arm": "main",
                        "token_index": 20,
                        "boundary": "tool.markup",
                        "message": f"token 20 parts from the baseline: {text}",
                        "baseline": f" {text}20",
                        "candidate": " other",
                        "baseline_too": False,
                        "case_file": f"cases/{session}-{turn}.case.json" if hard else None,
                    }
                )
    return RunTables(
        runs=[
            {
                "run": run,
                "started_at": START + timedelta(days=day),
                "ended_at": START + timedelta(days=day, minutes=7),
                "verdict": verdict,
                "reasons": [f"{verdict} because {text}", "second reason"],
                "tool_version": "0.1.0",
                "config": {"run": {"concurrency": 4}},
                "policy": {"rate_margin": 3e-4},
                "seed": seed,
                "concurrency": 4,
                "counts": {"turns_replayed": sessions * turns, "turns_skipped": sessions},
                "unverified": ["tool parser"],
                "not_judged": ["SAMPLED_SHIFT: no turn with temperature above 0"],
                "scope": f"480 candidate tokens in 24 turns: greedy 100%; {text}",
                "power": "a fault of rate 1e-4 would be seen with 95% from 29,958 tokens on",
            }
        ],
        paths=[_path(run, "baseline", k), _path(run, "candidate", k)],
        path_differences=[
            {
                "run": run,
                "field": "num_gpu_blocks",
                "baseline": "2048",
                "candidate": "1920",
                "allowed": True,
            }
        ],
        scope=[
            {
                "run": run,
                "ordinal": place,
                "dimension": dimension,
                "slice": name,
                "tokens": count,
                "turns": sessions * turns,
                "share": count / 480,
            }
            for place, (dimension, name, count) in enumerate(SCOPE)
        ],
        metrics=[
            *speed_of(run, rows["captures"]),
            *gap_rows(run, rows["captures"]),
            *_curve(run),
        ],
        **acceptance_of(
            run,
            rows["steps"],
            rows["draft_positions"],
            {row["session"]: row["tags"] for row in rows["sessions"]},
        ),
        tool_success=tools_of(run, rows["pairs"]),
        arms=[
            _arm(run, "main", 4),
            _arm(run, "c16", 16),
            {**_arm(run, "date-line", 4), "repeated": False, "perturb": ["date_line"]},
        ],
        slices=[
            _slice(run, "template", TEMPLATES[0], "fail" if verdict == "fail" else "inconclusive"),
            _slice(run, "tag", "team=blue", "inconclusive"),
        ],
        template_shifts=[_shift(run, "all", 0.5), _shift(run, "boundary", 0.4)],
        server_samples=[s for path in ("baseline", "candidate") for s in _samples(run, path, day)],
        bounds=_bounds(run, verdict),
        controls=[
            {
                "run": run,
                "ordinal": 0,
                "kind": "rank-2 token swap",
                "expected": "GREEDY_DIVERGENCE",
                "state": "caught",
                "fired": ["GREEDY_DIVERGENCE"],
                "detail": "1 of 1 copies",
            },
            {"run": run, "ordinal": 1, "kind": "unchanged", "state": "caught", "fired": []},
        ],
        **rows,
    )


def _draft(
    rng: random.Random,
    rows: dict[str, list[dict[str, Any]]],
    capture: dict[str, Any],
    tokens: int,
    k: int,
    accept: float,
    template: str,
    band: str,
) -> int:
    """Steps and positions of one capture; returns the number of steps."""
    token, step = 1, 1
    while token < tokens:
        accepted = 0
        for position in range(k):
            index = min(token + position, tokens - 1)
            label = LABELS[(index // 9) % len(LABELS)]
            reached = accepted == position
            taken = reached and rng.random() < ACCEPTS[label] * accept
            accepted += taken
            distance = index % 9
            rows["draft_positions"].append(
                {
                    **capture,
                    "step": step,
                    "position": position,
                    "token_index": index if reached else None,
                    "label": label if reached else None,
                    "reached": reached,
                    "accepted": taken,
                    "distance": str(distance) if distance < 3 else "3-7" if distance < 8 else "8+",
                    "crossing": f"{LABELS[(index // 9 - 1) % len(LABELS)]}>{label}",
                    "context_band": band,
                    "template": template,
                    "tool": "read_file" if label.startswith("tool") else None,
                    "cached": capture["turn"] != "t000",
                }
            )
        rows["steps"].append(
            {
                **capture,
                "step": step,
                "drafted": k,
                "accepted": accepted,
                "committed": accepted + 1,
                "first_token": token,
                "label": LABELS[(token // 9) % len(LABELS)],
            }
        )
        token += accepted + 1
        step += 1
    return step - 1


def _path(run: str, path: str, k: int) -> dict[str, Any]:
    config = {"method": "eagle3", "num_speculative_tokens": k}
    return {
        "run": run,
        "path": path,
        "url": "http://127.0.0.1:8000",
        "launched": True,
        "vllm_version": "0.32.0",
        "model": "toy",
        "max_model_len": 16384,
        "speculative_config": config if path == "candidate" else None,
        "method": "eagle3" if path == "candidate" else None,
        "num_speculative_tokens": k if path == "candidate" else None,
        "drafter_config": {"fc_norm": True} if path == "candidate" else None,
        "flags": ["--enforce-eager"],
        "tool_parser": "hermes",
        "dtype": "bfloat16",
        "block_size": 16,
        "system_fingerprint": f"fp-{path}",
        "template_hash": "ab12",
    }


def _arm(run: str, name: str, concurrency: int) -> dict[str, Any]:
    return {
        "run": run,
        "arm": name,
        "concurrency": concurrency,
        "sessions": 6,
        "turns": 24,
        "baseline_in_flight": 0.9 * concurrency,
        "candidate_in_flight": 0.8 * concurrency,
        "repeated": True,
        "prefix_cache": True,
        "small_kv": False,
        "perturb": [],
    }


def _slice(run: str, dimension: str, name: str, verdict: str) -> dict[str, Any]:
    failed = verdict == "fail"
    return {
        "run": run,
        "dimension": dimension,
        "slice": name,
        "verdict": verdict,
        "turns": 12,
        "sessions": 3,
        "errors": 1 if failed else 0,
        "tests": 4,
        "tokens": 700,
        "regret_excess": 0.0,
        "regret_limit": 0.02,
        "regret_p": 1.0,
        "regret_state": "inconclusive",
        "tool_turns": 6,
        "tool_difference": -0.5 if failed else 0.0,
        "tool_limit": -0.9 if failed else -0.4,
        "tool_p": 0.2 if failed else 1.0,
        "tool_state": "inconclusive",
        "acceptance_length": 2.5,
        "acceptance_difference": -0.1,
        "acceptance_low": -0.3,
        "acceptance_high": 0.1,
        "acceptance_change": "alike",
    }


def _shift(run: str, dimension: str, share: float) -> dict[str, Any]:
    """1.5 accepted tokens per step in the main arm, the given share of them with other prompts."""
    return {
        "run": run,
        "arm": "date-line",
        "dimension": dimension,
        "slice": "all" if dimension == "all" else "code",
        "main_length": 2.5,
        "changed_length": 1 + 1.5 * share,
        "difference": 1.5 * share - 1.5,
        "low": 1.5 * share - 1.7,
        "high": 1.5 * share - 1.3,
        "change": "lower",
        "accepted_share": share,
        "conditional_acceptance": [-0.2, -0.1, None],
        "steps": 400,
        "sessions": 6,
    }


def _speed(run: str, arm: str, speedup: float) -> list[dict[str, Any]]:
    """A speed-up with 10% to either side; the first token comes as soon on both paths."""
    rows = []
    common = {"run": run, "dimension": "arm", "slice": arm, "n": 24, "sessions": 6}
    for metric in ("ttft_ms", "tpot_ms", "user_tokens_per_s", "ms_per_token"):
        value = 1.0 if metric == "ttft_ms" else speedup
        number = {"value": value, "low": value * 0.9, "high": value * 1.1, "unit": "ratio"}
        named = {"name": f"speedup_{metric}", "path": "both", "better": "higher"}
        rows.append({**common, **number, **named, "formula": "baseline / candidate, by session"})
    for path, pace in (("baseline", 60.0), ("candidate", 60.0 * speedup)):
        rows.append({**common, "name": "user_tokens_per_s", "path": path, "value": pace})
    return rows


def _curve(run: str) -> list[dict[str, Any]]:
    """Twice as fast at concurrency 4, half as fast at 16: equal half way, at 8."""
    rows = [
        row for arm, speedup in (("main", 2.0), ("c16", 0.5)) for row in _speed(run, arm, speedup)
    ]
    whole = {"run": run, "path": "both", "dimension": "all", "slice": "all"}
    return [*rows, {**whole, "name": "break_even_concurrency", "value": 8.0}]


def _samples(run: str, path: str, day: int) -> list[dict[str, Any]]:
    """Three readings; the baseline has no counters of speculation."""
    return [
        {
            "run": run,
            "path": path,
            "arm": "main",
            "url": "http://127.0.0.1:8000",
            "sampled_at": START + timedelta(seconds=second, days=day),
            "running": running,
            "waiting": 0.0,
            "kv_cache_use": 0.1 * running,
            "preemptions": 2.0,
            "generation_tokens": 100.0 * second,
            "prefix_queries": 1000.0 * second,
            "prefix_hits": 600.0 * second,
            "drafts": 50.0 * second if path == "candidate" else None,
            "accepted_tokens": 75.0 * second if path == "candidate" else None,
        }
        for second, running in ((0, 0.0), (1, 4.0), (2, 3.0))
    ]


def _bounds(run: str, verdict: str) -> list[dict[str, Any]]:
    state = verdict if verdict in ("pass", "fail") else "inconclusive"
    return [
        {
            "run": run,
            "ordinal": 0,
            "turns": "all",
            "name": "regret_rate",
            "state": state,
            "value": 1e-4,
            "low": 0.0,
            "high": 2e-4,
            "margin": 3e-4,
            "noise_floor": 1e-4,
            "unit": "per token",
            "n": 1440,
            "sessions": 6,
            "needed": None if state != "inconclusive" else "8,000 more tokens",
            "message": "regret above the soft bound stays inside the margin",
        },
        {
            "run": run,
            "ordinal": 1,
            "turns": "all",
            "name": "sampled_shift",
            "state": "not_applicable",
            "message": "no turn with temperature above 0",
        },
        {
            "run": run,
            "ordinal": 2,
            "turns": "faithful",
            "name": "regret_rate",
            "state": "inconclusive",
            "value": 2e-4,
            "low": 0.0,
            "high": 4e-4,
            "margin": 3e-4,
            "unit": "per token",
            "n": 700,
            "sessions": 3,
            "needed": "9,000 more tokens",
            "message": "regret of exact and rebuilt prompts alone",
        },
    ]
