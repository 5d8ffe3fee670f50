"""`draftgate.toml`: what to replay, on which paths, under which policy.

    [run]
    sessions = ["sessions/"]
    concurrency = 4

    [server]                       # what both launched paths share
    model = "nvidia/Kimi-K2.6-NVFP4"
    flags = ["--tool-call-parser", "kimi_k2", "--enable-auto-tool-choice"]

    [candidate]
    speculative_config = { method = "eagle3", model = "…", num_speculative_tokens = 3 }

    [[arms]]                       # a quarter of the sessions again, sixteen at a time
    name = "c16"
    concurrency = 16

    [policy]
    rate_margin = 1e-4

A path is launched from `[server]` unless it names `urls`; then it is attached.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, field_validator, model_validator

from checks.config_table import ConfigTable
from checks.policy import Policy
from draftgate.config.json_fit import unfit_for_json
from replay.sending.url import server_root
from traces.errors import ConfigError, InputError
from traces.journal.arm import is_own_name
from traces.session.perturbation import PERTURBATIONS
from traces.session.turn import Fidelity
from traces.user_paths import expanded

A_WEEK_S = 7 * 24 * 3600.0


class FixableError(ValueError):
    """A configuration that cannot be, and what to write instead."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix


def _put_in(path: str) -> str:
    try:
        return expanded(path)
    except InputError as error:
        raise FixableError(str(error), error.fix) from None


OtherRoute = Literal["messages", "responses", "completions"]

Temperature = Annotated[float, Field(gt=0, le=10)]

UserPath = Annotated[str, AfterValidator(_put_in)]
"""A path in which ``~`` and environment variables are put in, as a shell does."""


class ArmSection(ConfigTable):
    """`[[arms]]`: a further arm: some of the turns again, on both paths, under another load."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9.-]{0,31}$",
        description="what reports, journals and the store call it",
    )
    concurrency: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="sessions replayed in parallel; default is `run.concurrency`",
    )
    share: float = Field(
        0.25,
        gt=0,
        le=1,
        description="share of the sessions, drawn by `run.seed`; at least 6 of them, and "
        "`concurrency`",
    )
    max_sessions: int | None = Field(None, ge=1, description="largest number of sessions")
    max_turns: int | None = Field(
        None, ge=1, description="largest number of turns; the first ones of every session"
    )
    repeat: bool = Field(
        True,
        description="the baseline replays it twice: rates only compare at the same concurrency, so "
        "without its own repeat an arm's regret rate is not judged",
    )
    prefix_cache: bool = Field(
        True, description="false: each turn has a cache salt of its own, so that nothing is reused"
    )
    small_kv: bool = Field(
        False,
        description="servers of its own with room for little more than its longest turn, so that "
        "turns preempt each other; launched paths only",
    )
    perturb: tuple[str, ...] = Field(
        (),
        description="changes of every prompt, made in this order ("
        + ", ".join(f"`{name}`" for name in PERTURBATIONS)
        + "); the candidate alone replays it, and its acceptance is compared with the main arm's",
    )

    abort: bool = Field(
        False,
        description="before every turn another turn's request is sent and its stream closed after "
        "a few events, so that what it held is used again",
    )
    grammar: bool = Field(
        False,
        description="every turn is asked for under a grammar: a tool call that must be made, or "
        "without tools an answer by a JSON schema",
    )

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if is_own_name(name):
            raise ValueError(f"an arm of the gate itself is called {name}; take another name")
        return name

    @field_validator("perturb")
    @classmethod
    def _changes_are_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in PERTURBATIONS:
                raise ValueError(f"there is no change {name!r}; known: {', '.join(PERTURBATIONS)}")
        return names

    @model_validator(mode="after")
    def _load_can_show(self) -> "ArmSection":
        if self.small_kv and self.concurrency == 1:
            raise ValueError("a single turn is never preempted; raise `concurrency`")
        if self.small_kv and self.perturb:
            raise ValueError("`perturb` and `small_kv` ask two questions; make two arms")
        if self.perturb and (self.abort or self.grammar):
            other = "abort" if self.abort else "grammar"
            raise ValueError(
                f"the candidate alone replays `perturb`; `{other}` needs an arm of both"
            )
        return self


class RunSection(ConfigTable):
    """`[run]`: what is replayed, with how much load, and where the results go."""

    kind: Literal["gate", "aa"] = Field(
        "gate",
        description="`gate` compares a candidate with its baseline; `aa` compares two equal paths "
        "(A/A), which may be one server: its verdict says nothing about a candidate",
    )
    sessions: tuple[UserPath, ...] = Field(
        (), description="files, folders or globs of recorded sessions"
    )
    output: UserPath = Field(
        ".draftgate", description="folder for journals, server logs and case files"
    )
    db: UserPath = Field("draftgate.duckdb", description="the DuckDB store")
    report: UserPath = Field(
        "", description="HTML report; default is report.html in the run's folder"
    )
    concurrency: int = Field(
        4, ge=1, le=10_000, description="sessions replayed in parallel, on each path"
    )
    order: Literal["together", "in-turn"] = Field(
        "in-turn",
        description="`in-turn` starts the candidate, ends it, then the baseline (one model fits); "
        "`together` keeps both servers up",
    )
    max_tokens: int = Field(
        1024, ge=1, lt=2**31, description="largest number of output tokens per turn"
    )
    max_sessions: int | None = Field(None, ge=1, description="largest number of sessions to replay")
    max_turns: int | None = Field(
        None, ge=1, description="largest number of turns to replay, in total"
    )
    fidelity: tuple[Fidelity, ...] = Field(
        get_args(Fidelity),
        min_length=1,
        description="which turns are replayed and judged, by how close their recorded prompt is to "
        "what the model saw (`draftgate docs formats/README`); where some are not `exact` or "
        "`rebuilt`, reports also show the bounds of those that are",
    )
    plain_share: float = Field(
        0.1, ge=0, le=1, description="share of sessions also replayed without ids and logprobs"
    )
    routes: Literal["recorded", "none"] | tuple[OtherRoute, ...] = Field(
        "recorded",
        description="routes on which turns are also replayed as users send them: that of the agent "
        "which `recorded` a session (Claude Code: messages, Codex: responses), `none`, or a list "
        "of `messages`, `responses`, `completions` for all sessions (`draftgate docs arms`)",
    )
    route_turns: int = Field(24, ge=1, description="largest number of turns replayed on each")
    arms: Literal["none", "listed", "all"] = Field(
        "listed",
        description="further arms: `none`, those `listed` in `[[arms]]`, or `all`, the ready-made "
        "ones too (`draftgate docs arms`)",
    )
    scorer: Literal["auto", "teacher-forcing", "lockstep"] = Field(
        "auto",
        description="how the baseline scores tokens it did not choose (`draftgate docs scoring`); "
        "`auto` takes lockstep where its server has no prompt logprobs",
    )
    verify_floor: Literal["auto", "on", "off"] = Field(
        "auto",
        description="noise floor in verify shape: a third server that drafts and accepts nothing "
        "(vLLM on a GPU, launched paths); `auto` where `policy.noise_tails` is heavy",
    )
    draft_ids: bool = Field(
        False,
        description="the candidate's server reports the token ids of its drafts, by a plugin in "
        "vLLM and without asynchronous scheduling (`draftgate docs limits`); launched paths only",
    )
    seed: int = Field(0, ge=0, lt=2**63, description="seed of every random draw of the judgement")
    sampled_share: float = Field(
        0.1,
        ge=0,
        le=1,
        description="share of the turns recorded without a temperature that are sampled besides "
        "their greedy replay, at `temperature`; 0: the verdict says nothing about sampling them",
    )
    temperature: Temperature | Literal["model"] = Field(
        "model",
        description="temperature of that share; `model`: what vLLM takes where a request has none, "
        "of the model's generation_config.json, else 1",
    )
    top_p: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="top-p of that share; default is the model's under `model`, else 1"
    )
    top_k: int | None = Field(
        None, ge=0, description="top-k of that share, 0: off; default as of `top_p`, else 0"
    )
    sampled_seeds: Literal["none", "per-turn"] = Field(
        "none",
        description="seed sent with sampled turns whose recording has none: `none`, as users send "
        "them; or one `per-turn`, made of `seed`, path, arm and turn, so that the answers repeat "
        "(vLLM then leaves its fast top-p and top-k sampler)",
    )
    timeout_s: float = Field(
        600, gt=0, le=A_WEEK_S, description="longest wait for one turn, in seconds"
    )
    tool_parser: str = Field(
        "",
        description="tool-call parser the output's markup is written for; default is the "
        "`--tool-call-parser` of the launched servers",
    )
    reasoning_parser: str = Field(
        "",
        description="reasoning parser of the servers, for split invariance; default is the "
        "`--reasoning-parser` of the launched servers",
    )
    tokenizer: UserPath = Field(
        "",
        description="folder or name of the servers' tokenizer, for split invariance; default is "
        "`server.model`",
    )
    allow_missing: bool = Field(
        False,
        description="run although a server does not report everything that is judged, for "
        "example because a flag is missing; the report lists what is not judged",
    )
    redact: bool = Field(True, description="replace secrets in case files and reports")


class ServerSection(ConfigTable):
    """`[server]`: the vLLM server both launched paths share."""

    model: UserPath = Field(
        "", description="model folder or name; empty where both paths are attached"
    )
    served_model_name: str = Field("", description="the name requests use; default is the model")
    flags: tuple[str, ...] = Field((), description="vLLM flags of both paths")
    env: dict[str, str] = Field(default_factory=dict, description="environment of both paths")
    python: UserPath = Field(
        "", description="Python that runs vLLM; default is the one running now"
    )
    start_timeout_s: float = Field(
        600, gt=0, le=A_WEEK_S, description="longest wait for a server to be healthy"
    )


class PathSection(ConfigTable):
    """`[baseline]`: attached by `urls`, or launched from `[server]`."""

    urls: tuple[str, ...] = Field(
        (), description="base URLs of running servers; a session stays on one"
    )
    api_key_env: str = Field("", description="environment variable that holds the API key")
    flags: tuple[str, ...] = Field((), description="further vLLM flags of this path alone")

    @field_validator("urls")
    @classmethod
    def _urls_can_be_asked(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            try:
                server_root(url)
            except ConfigError as error:
                raise ValueError(f"{error}; {error.fix}") from None
        return urls


class CandidateSection(PathSection):
    """`[candidate]`: as `[baseline]`, with the drafter."""

    speculative_config: dict[str, Any] = Field(
        default_factory=dict, description="vLLM's --speculative-config, as a table"
    )

    @field_validator("speculative_config")
    @classmethod
    def _vllm_can_read_it(cls, table: dict[str, Any]) -> dict[str, Any]:
        if unfit := unfit_for_json(table):
            raise FixableError(
                f"{unfit}, which JSON, and so vLLM's --speculative-config, cannot hold",
                "write a finite number, a text, true or false, a list or a table there",
            )
        model = table.get("model")
        return {**table, "model": _put_in(model)} if isinstance(model, str) else table


class ReferenceSection(ConfigTable):
    """`[reference]`: a stored run whose acceptance profile this run is compared with."""

    run: str = Field("", description="run id in the store, or `last` for the newest passed run")
    pinned: str = Field(
        "",
        description="run id that losses of acceptance are compared with, so that many small ones "
        "do not add up unseen; default is `run`, and under `last` the first run that passed",
    )


class Config(ConfigTable):
    """The whole file."""

    run: RunSection = RunSection()
    server: ServerSection = ServerSection()
    baseline: PathSection = PathSection()
    candidate: CandidateSection = CandidateSection()
    reference: ReferenceSection = ReferenceSection()
    arms: tuple[ArmSection, ...] = ()
    policy: Policy = Policy()

    @model_validator(mode="after")
    def _paths_are_reachable(self) -> "Config":
        paths = {"baseline": self.baseline, "candidate": self.candidate}
        bare = [name for name, path in paths.items() if not path.urls]
        if bare and not self.server.model:
            raise FixableError(
                f"no server to send turns to: {' and '.join(f'[{name}]' for name in bare)} without "
                "`urls`, [server] without `model`",
                f"name running servers in {' and '.join(f'`{name}.urls`' for name in bare)}, or in "
                "`server.model` a model to launch vLLM with",
            )
        drafts = self.candidate.urls or self.candidate.speculative_config
        if not drafts and self.run.kind == "gate":
            raise FixableError(
                "[candidate] is launched but has no `speculative_config`",
                'say what drafts: speculative_config = { method = "eagle3", model = "…", '
                "num_speculative_tokens = 3 }",
            )
        if self.candidate.speculative_config.get("rejection_sample_method") == "synthetic":
            raise ValueError(
                "[candidate] accepts drafts without checking them (rejection_sample_method is "
                "synthetic), "
                "which changes the output by design"
            )
        return self

    @model_validator(mode="after")
    def _draft_ids_can_be_served(self) -> "Config":
        if self.run.draft_ids and not self.launched:
            raise FixableError(
                "draft ids need servers that draftgate launches, and a path is attached by `urls`",
                "take `draft_ids` out of [run], or `urls` out of both paths",
            )
        return self

    @model_validator(mode="after")
    def _arms_can_run(self) -> "Config":
        names = [arm.name for arm in self.arms]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two [[arms]] are called {name}")
        if self.run.verify_floor == "on" and not self.launched:
            raise ValueError("`verify_floor` needs a server of its own, and a path is attached")
        for arm in self.arms:
            if arm.small_kv and not self.launched:
                raise ValueError(
                    f"arm {arm.name}: `small_kv` needs servers of its own, and a path is attached"
                )
        return self

    @property
    def launched(self) -> bool:
        """Whether the gate launches the servers of both paths."""
        return not (self.baseline.urls or self.candidate.urls)


DEFAULT_FILE = Path("draftgate.toml")
