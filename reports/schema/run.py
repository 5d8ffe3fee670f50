"""What was run, on what: runs, the two paths and how they differ, sessions, turns."""

from reports.schema.column import Column, Table

RUN = Column("run", "VARCHAR", "run id; unique in the store", required=True)
PATH = Column(
    "path", "path_name", "`baseline` (no drafter) or `candidate` (drafter)", required=True
)
SESSION = Column("session", "VARCHAR", "session id", required=True)
TURN = Column("turn", "VARCHAR", "turn id, unique within its session", required=True)

RUNS = Table(
    "runs",
    "One row per gate run: when, with what configuration, and the verdict.",
    ("run",),
    (
        RUN,
        Column("started_at", "TIMESTAMP", "start of the run, UTC", required=True),
        Column("ended_at", "TIMESTAMP", "end of the run, UTC"),
        Column(
            "verdict",
            "verdict_name",
            "pass, fail, inconclusive or invalid; aa-pass of equal paths",
            required=True,
        ),
        Column("reasons", "VARCHAR[]", "why, the most important first", required=True),
        Column("tool_version", "VARCHAR", "version of draftgate that judged", required=True),
        Column("config", "JSON", "the configuration that was in force, secrets replaced"),
        Column("policy", "JSON", "margins, bounds and severities that were in force"),
        Column("seed", "BIGINT", "seed of every random draw of the judgement"),
        Column("concurrency", "INTEGER", "sessions replayed side by side", "sessions"),
        Column("counts", "JSON", "how much was replayed, skipped and judged, by name"),
        Column(
            "unverified", "VARCHAR[]", "facts of the paths that could not be seen, so not compared"
        ),
        Column("not_judged", "VARCHAR[]", "checks that lacked what they need, with the reason"),
        Column(
            "power", "VARCHAR", "what this run could have seen, and how much more data would decide"
        ),
        Column(
            "scope",
            "VARCHAR",
            "which tokens the run looked at, in a line: sampled or greedy, context, boundary, "
            "grammar, and the text that no check saw; table `scope` has the numbers",
        ),
        Column("notes", "VARCHAR[]", "other things a reader of the report should know"),
    ),
)

PATHS = Table(
    "paths",
    "One row per run and path: the server as far as it can be seen.",
    ("run", "path"),
    (
        RUN,
        PATH,
        Column("url", "VARCHAR", "base URL without credentials; several are joined by a space"),
        Column("launched", "BOOLEAN", "true: started by draftgate; false: attached"),
        Column("vllm_version", "VARCHAR", "what /version says"),
        Column("model", "VARCHAR", "model id as /v1/models names it"),
        Column("max_model_len", "INTEGER", "longest context the server accepts", "tokens"),
        Column("speculative_config", "JSON", "vLLM's speculative config; NULL on the baseline"),
        Column("method", "VARCHAR", "speculative method: eagle3, mtp, ngram, draft_model …"),
        Column("num_speculative_tokens", "INTEGER", "drafts per step (k)", "tokens"),
        Column("drafter_config", "JSON", "the drafter's config as vLLM parsed it"),
        Column("flags", "VARCHAR[]", "vLLM flags the path was launched with, secrets replaced"),
        Column("tool_parser", "VARCHAR", "vLLM tool-call parser"),
        Column("reasoning_parser", "VARCHAR", "vLLM reasoning parser"),
        Column("dtype", "VARCHAR", "data type the target computes in"),
        Column("block_size", "INTEGER", "KV-cache block size", "tokens"),
        Column("system_fingerprint", "VARCHAR", "constant within a path, differs between them"),
        Column(
            "template_hash", "VARCHAR", "hash of the prompt token ids of the probe conversation"
        ),
        Column("facts", "JSON", "everything else the server reported of itself"),
    ),
)

PATH_DIFFERENCES = Table(
    "path_differences",
    "One row per visible difference between the paths of a run.",
    ("run", "field"),
    (
        RUN,
        Column("field", "VARCHAR", "what differs", required=True),
        Column("baseline", "VARCHAR", "its value on the baseline"),
        Column("candidate", "VARCHAR", "its value on the candidate"),
        Column("allowed", "BOOLEAN", "true where speculation itself explains it", required=True),
    ),
)

SESSIONS = Table(
    "sessions",
    "One row per run and recorded session that was replayed.",
    ("run", "session"),
    (
        RUN,
        SESSION,
        Column("format", "VARCHAR", "format of the recorded file, e.g. claude-code"),
        Column("source", "VARCHAR", "file name without its folder"),
        Column("sha256", "VARCHAR", "SHA-256 of the recorded file, hex"),
        Column(
            "template", "VARCHAR", "prompt template or agent style the session was recorded with"
        ),
        Column("tags", "MAP(VARCHAR, VARCHAR)", "tags given to the session"),
        Column(
            "half",
            "VARCHAR",
            "what its greedy turns served: `calibration` of the bounds, or `test` of the rates; "
            "NULL: none was judged",
        ),
        Column("turns", "INTEGER", "assistant turns recorded", "turns"),
        Column("turns_replayed", "INTEGER", "turns that were replayed", "turns"),
    ),
)

TURNS = Table(
    "turns",
    "One row per run and recorded assistant turn, replayed or skipped.",
    ("run", "session", "turn"),
    (
        RUN,
        SESSION,
        TURN,
        Column("turn_index", "INTEGER", "place of the turn in its session, from 0", required=True),
        Column("thread", "VARCHAR", "thread of the session, e.g. a sub-agent; NULL: the main one"),
        Column("context_tokens", "INTEGER", "prompt length", "tokens"),
        Column("context_band", "context_name", "band of the prompt length"),
        Column("tools", "INTEGER", "tools offered in the request", "tools"),
        Column("tool_choice", "VARCHAR", "tool_choice of the request; NULL: not given"),
        Column("temperature", "DOUBLE", "temperature of the request"),
        Column("max_tokens", "INTEGER", "most output tokens asked for", "tokens"),
        Column("replayable", "BOOLEAN", "false where the turn was skipped", required=True),
        Column("skip_reason", "VARCHAR", "why it was skipped; NULL where it was replayed"),
        Column("fidelity", "VARCHAR", "how true the request is to the recorded one, with reasons"),
    ),
)

ARMS = Table(
    "arms",
    "One row per arm: of those both paths replayed, and those with other prompts, which only the "
    "candidate did. Repeats and re-runs belong to the arm they repeat.",
    ("run", "arm"),
    (
        RUN,
        Column("arm", "VARCHAR", "main, or the name of a further arm", required=True),
        Column("concurrency", "INTEGER", "sessions replayed side by side", "sessions"),
        Column("sessions", "INTEGER", "sessions the candidate answered", "sessions"),
        Column("turns", "INTEGER", "turns the candidate answered", "turns"),
        Column("baseline_in_flight", "DOUBLE", "requests in flight on average, baseline"),
        Column("candidate_in_flight", "DOUBLE", "requests in flight on average, candidate"),
        Column("repeated", "BOOLEAN", "true: the baseline replayed it twice, as its noise floor"),
        Column("prefix_cache", "BOOLEAN", "false: no turn could find its prefix in the cache"),
        Column("small_kv", "BOOLEAN", "true: on servers with too little KV cache for its turns"),
        Column("abort", "BOOLEAN", "true: before each turn another stream was broken off"),
        Column("grammar", "BOOLEAN", "true: every turn under a grammar"),
        Column("perturb", "VARCHAR[]", "changes of every prompt; empty: the prompts of the turns"),
    ),
)
