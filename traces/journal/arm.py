"""An arm: one load under which turns are replayed, and the names its journals have.

    main             every session; the verdict's certificate rests on it
    plain            a share of the turns as users send them, without token ids and logprobs
    messages, …      the same on the other routes that agents use
    sampled          a share of the turns recorded without a temperature, sampled besides
    c1, c4, …        further arms, at another load or with other prompts

The baseline replays an arm a second time under its repeat name (``aa`` for main, ``c4-aa`` for c4):
the noise floor. ``verify`` is the baseline of main in verify shape. No other module builds such a
name from parts.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from traces.journal.exchange import ArmKey
from traces.wire.route import Route

MAIN = "main"
PLAIN = "plain"
REPEAT = "aa"
VERIFY = "verify"
SAMPLED = "sampled"

SERVED: Mapping[str, Route] = {
    PLAIN: "chat",
    "messages": "messages",
    "responses": "responses",
    "completions": "completions",
}
"""The arms whose answers are what a user's client gets, and the route each is asked on."""

OTHER_ROUTES = tuple(name for name in SERVED if name != PLAIN)

OWN_NAMES = frozenset({MAIN, REPEAT, *SERVED, VERIFY, SAMPLED, "candidate", "baseline"})
"""Names that the gate's own arms and comparisons have."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One of them, every value resolved; the fields are those of `[[arms]]`."""

    name: str
    concurrency: int
    share: float = 1.0
    max_sessions: int | None = None
    max_turns: int | None = None
    repeat: bool = True
    prefix_cache: bool = True
    small_kv: bool = False
    perturb: tuple[str, ...] = ()
    abort: bool = False
    grammar: bool = False

    @property
    def paired(self) -> bool:
        """Whether both paths replay it, so that their answers can be compared."""
        return not self.perturb

    @property
    def is_main(self) -> bool:
        return self.name == MAIN

    @property
    def comparison(self) -> str:
        """What the store calls the candidate against the baseline in this arm."""
        return "candidate" if self.is_main else self.name

    @property
    def repeat_name(self) -> str:
        """The arm of the baseline against itself."""
        return REPEAT if self.is_main else f"{self.name}-{REPEAT}"

    @property
    def verify_name(self) -> str | None:
        """The baseline in verify shape; only the main arm has it."""
        return VERIFY if self.is_main else None

    @property
    def rerun_names(self) -> tuple[str, str, str]:
        """Re-runs of suspicious turns: two at the arm's concurrency, one alone."""
        before = "" if self.is_main else f"{self.name}-"
        return f"{before}rerun-1", f"{before}rerun-2", f"{before}rerun-alone"

    @property
    def on_curve(self) -> bool:
        """Whether its speed is that of the servers as they will be used."""
        as_used = self.prefix_cache and not (self.small_kv or self.abort or self.grammar)
        return self.paired and as_used

    def names_on(self, path: str) -> tuple[str, ...]:
        """Journals of the arm on a path, in the order they are taken."""
        if path == "baseline" and not self.paired:
            return ()
        again = path == "baseline" and self.repeat
        return (self.name, self.repeat_name) if again else (self.name,)

    @property
    def keys(self) -> tuple[ArmKey, ...]:
        """(path, arm) of everything that is captured for it."""
        return (
            ("candidate", self.name),
            ("baseline", self.name),
            ("baseline", self.repeat_name),
            *self.rerun_keys,
        )

    @property
    def rerun_keys(self) -> tuple[ArmKey, ...]:
        """(path, arm) of its re-runs."""
        return tuple(("candidate", name) for name in self.rerun_names)


def is_own_name(name: str) -> bool:
    """Whether the gate itself may call a journal so; no further arm can have such a name."""
    return name in OWN_NAMES or name.endswith(f"-{REPEAT}") or "rerun" in name


def further_arm_of(journal: str) -> str | None:
    """The further arm that a journal of this name is of; None for the gate's own and re-runs."""
    name = journal.removesuffix(f"-{REPEAT}")
    return None if is_own_name(name) else name
