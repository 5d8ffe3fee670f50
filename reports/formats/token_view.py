"""The tokens of a diverging turn around its fork, both paths, as a report shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reports.inert import visible
from reports.number import number
from reports.store.store import Store

BEFORE, AFTER = 40, 60
"""Tokens shown before and after the fork."""

NEAR = 8
"""Tokens before and after the fork whose log probabilities are listed."""

MOST_TURNS = 12
"""Turns a report shows unless it is asked for one."""


@dataclass(frozen=True, slots=True)
class TokenCell:
    """One token: its text made visible, label, and what is known of it in a sentence.

    `draft` is ``accepted`` (a draft token), ``rejected`` (the target's own token where a draft was
    refused) or ``none``; `edge` is true for the first token of an engine step, `near` within `NEAR`
    tokens of the fork.
    """

    index: int
    text: str
    label: str
    draft: str
    edge: bool
    fork: bool
    near: bool
    detail: str


@dataclass(frozen=True, slots=True)
class TokenView:
    """One diverging turn: the row of v_divergences, and the tokens of both paths."""

    divergence: dict[str, Any]
    baseline: tuple[TokenCell, ...]
    candidate: tuple[TokenCell, ...]


def token_views(store: Store, divergences: Sequence[dict[str, Any]]) -> list[TokenView]:
    """One view for each of the given rows of `v_divergences`."""
    return [
        TokenView(row, _cells(store, row, "baseline"), _cells(store, row, "candidate"))
        for row in divergences
    ]


def worst_first(divergences: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Hard forks before near ties; inside each kind the order of the view, largest regret first."""
    return sorted(divergences, key=lambda row: row["fork_kind"] != "hard")


def _cells(store: Store, row: dict[str, Any], path: str) -> tuple[TokenCell, ...]:
    fork = row["fork_index"]
    tokens = store.rows(
        """
        select t.token_index, t.text, t.id, t.label, t.logprob, t.regret,
          t.step is distinct from lag(t.step) over (order by t.token_index) as edge, d.accepted
        from tokens t
        left join (
          select token_index, bool_or(accepted) as accepted from draft_positions
          where run = $run and path = $path and arm = 'main' and session = $session
            and turn = $turn and reached group by token_index
        ) d using (token_index)
        where run = $run and path = $path and arm = 'main' and session = $session
          and turn = $turn
          and attempt = (
            select max(attempt) from captures where run = $run and path = $path and arm = 'main'
              and session = $session and turn = $turn)
          and token_index between $first and $last
        order by token_index
        """,
        {
            "run": row["run"],
            "path": path,
            "session": row["session"],
            "turn": row["turn"],
            "first": fork - BEFORE,
            "last": fork + AFTER,
        },
    )
    return tuple(_cell(token, fork) for token in tokens)


def _cell(token: dict[str, Any], fork: int) -> TokenCell:
    text = token["text"] if token["text"] is not None else f"<{token['id']}>"
    draft = {True: "accepted", False: "rejected", None: "none"}[token["accepted"]]
    parts = [f"token {token['token_index']}", token["label"] or "no label"]
    if token["logprob"] is not None:
        parts.append(f"log p {number(token['logprob'], 'nat')}")
    if token["regret"] is not None:
        parts.append(f"regret {number(token['regret'], 'nat')}")
    if draft != "none":
        parts.append(f"draft {draft}")
    return TokenCell(
        index=token["token_index"],
        text=visible(text).replace("\n", "⏎\n"),
        label=token["label"] or "",
        draft=draft,
        edge=bool(token["edge"]),
        fork=token["token_index"] == fork,
        near=abs(token["token_index"] - fork) <= NEAR,
        detail=" · ".join(parts),
    )
