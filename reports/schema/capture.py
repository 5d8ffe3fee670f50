"""What the servers gave: captures, and the tokens, steps, draft positions and calls in them."""

from reports.schema.column import Column, Table
from reports.schema.run import PATH, RUN, SESSION, TURN

ARM = Column(
    "arm",
    "VARCHAR",
    "why it was replayed: main, aa (baseline against itself), verify (target in verify shape), "
    "plain (as users send it), messages, responses, completions (the same on that route), "
    "rerun-…, or a further arm (NAME, NAME-aa, NAME-rerun-…)",
    required=True,
)
ATTEMPT = Column(
    "attempt", "USMALLINT", "attempt, from 0; later ones repeat a failed one", required=True
)
CAPTURE_COLUMNS = (RUN, PATH, ARM, SESSION, TURN, ATTEMPT)
CAPTURE_KEY = ("run", "path", "arm", "session", "turn", "attempt")
LABEL = Column("label", "label_name", "what the token is part of")
LANGUAGE = Column("language", "VARCHAR", "language of a code token, as the fence or file name says")
CROSSING = Column("crossing", "VARCHAR", "kind of the last boundary before it, e.g. `prose>code`")

CAPTURES = Table(
    "captures",
    "One row per request sent: how it ended, its size and its times.",
    CAPTURE_KEY,
    (
        *CAPTURE_COLUMNS,
        Column("route", "VARCHAR", "chat, completions, messages or responses", required=True),
        Column("status", "INTEGER", "HTTP status; NULL where no answer came"),
        Column(
            "ended",
            "VARCHAR",
            "done (the last event of the route came), closed, error (connection lost), timeout, "
            "malformed (no HTTP answer), refused (no connection)",
            required=True,
        ),
        Column("finish_reason", "VARCHAR", "finish_reason of the choice"),
        Column("sent_at", "TIMESTAMP", "when the request was sent, UTC"),
        Column("prompt_tokens", "INTEGER", "prompt length as the server counts it", "tokens"),
        Column("completion_tokens", "INTEGER", "output length as the server counts it", "tokens"),
        Column("cached_tokens", "INTEGER", "prompt tokens served from the prefix cache", "tokens"),
        Column("ttft_ms", "DOUBLE", "time to first token", "ms"),
        Column("tpot_ms", "DOUBLE", "time per output token, (last - first) / (n - 1)", "ms"),
        Column("duration_ms", "DOUBLE", "from sending to the end of the stream", "ms"),
        Column("max_gap_ms", "DOUBLE", "longest wait between two events after the first", "ms"),
        Column("chunks", "INTEGER", "SSE data events", "events"),
        Column("bytes", "BIGINT", "size of the body", "bytes"),
        Column("drafter_steps", "INTEGER", "engine steps that drafted", "steps"),
        Column(
            "aligned", "BOOLEAN", "true: steps reconcile with tokens; NULL: no steps to reconcile"
        ),
        Column("unaligned_reason", "VARCHAR", "why steps and tokens do not reconcile"),
        Column("error", "VARCHAR", "client or network error"),
    ),
)

TOKENS = Table(
    "tokens",
    "One row per output token of a capture.",
    (*CAPTURE_KEY, "token_index"),
    (
        *CAPTURE_COLUMNS,
        Column("token_index", "INTEGER", "place in the output, from 0", required=True),
        Column("id", "INTEGER", "token id"),
        Column("text", "VARCHAR", "text of the token, secrets replaced"),
        LABEL,
        LANGUAGE,
        Column("logprob", "FLOAT", "log probability the path itself gave it", "nat"),
        Column("is_argmax", "BOOLEAN", "true where it is the argmax of the path's own logprobs"),
        Column("regret", "FLOAT", "max_v log p_B(v) - log p_B(token), B the baseline", "nat"),
        Column("regret_shape", "shape_name", "how the baseline scored it: decode or prefill shape"),
        Column("step", "INTEGER", "engine step that committed it, from 0; step 0 is the prefill"),
    ),
)

STEPS = Table(
    "steps",
    "One row per engine step that drafted, of aligned captures and of unaligned ones as reported.",
    (*CAPTURE_KEY, "step"),
    (
        *CAPTURE_COLUMNS,
        Column("step", "INTEGER", "engine step, as in tokens.step", required=True),
        Column("drafted", "UTINYINT", "draft tokens proposed", "tokens", required=True),
        Column("accepted", "UTINYINT", "draft tokens accepted", "tokens", required=True),
        Column(
            "committed",
            "UTINYINT",
            "tokens committed; below accepted + 1 only at the end",
            "tokens",
        ),
        Column(
            "first_token", "INTEGER", "token_index of its first committed token; NULL: unaligned"
        ),
        Column("label", "label_name", "label of its first committed token; NULL: unaligned"),
    ),
)

DRAFT_POSITIONS = Table(
    "draft_positions",
    "One row per drafted position of an aligned capture: reached or not, accepted or not.",
    (*CAPTURE_KEY, "step", "position"),
    (
        *CAPTURE_COLUMNS,
        Column("step", "INTEGER", "engine step, as in steps.step", required=True),
        Column("position", "UTINYINT", "place in the draft, from 0", required=True),
        Column("token_index", "INTEGER", "token committed at this place; NULL where not reached"),
        Column(
            "draft_id",
            "INTEGER",
            "drafted token id, where the server reports it (`run.draft_ids`) or it can be "
            "recomputed (n-gram)",
        ),
        Column("label", "label_name", "label of the committed token; NULL where not reached"),
        Column("reached", "BOOLEAN", "true up to and including the first rejection", required=True),
        Column("accepted", "BOOLEAN", "true where the draft token was accepted", required=True),
        Column("distance", "distance_name", "tokens since the last change of label"),
        CROSSING,
        Column("context_band", "context_name", "band of the context length at this token"),
        Column("template", "VARCHAR", "prompt template, as sessions.template"),
        Column("tool", "VARCHAR", "tool whose call the token is part of"),
        Column("cached", "BOOLEAN", "true where the turn's prefix came from the cache"),
    ),
)

TOOL_CALLS = Table(
    "tool_calls",
    "One row per tool call a capture holds.",
    (*CAPTURE_KEY, "call_index"),
    (
        *CAPTURE_COLUMNS,
        Column("call_index", "INTEGER", "place of the call in its response, from 0", required=True),
        Column("name", "VARCHAR", "tool name; NULL where none was sent"),
        Column("arguments", "VARCHAR", "argument text, secrets replaced"),
        Column(
            "arguments_kind", "VARCHAR", "JSON type: object, array, string … ; `invalid`: not JSON"
        ),
        Column("parsed", "BOOLEAN", "arguments are JSON", required=True),
        Column("known", "BOOLEAN", "the request offered a tool of this name"),
        Column("valid", "BOOLEAN", "arguments satisfy the tool's JSON Schema; NULL: not judged"),
        Column("problem", "VARCHAR", "what is wrong with the call; NULL where nothing is"),
    ),
)

SERVER_SAMPLES = Table(
    "server_samples",
    "What a server's /metrics said, once a second while an arm ran; counters since its start.",
    ("run", "path", "arm", "url", "sampled_at"),
    (
        RUN,
        PATH,
        ARM,
        Column("url", "VARCHAR", "base URL of the server", required=True),
        Column("sampled_at", "TIMESTAMP", "when it was read, UTC", required=True),
        Column("started", "DOUBLE", "when the server's process began, since 1970", "s"),
        Column("running", "DOUBLE", "requests in the batch", "requests"),
        Column("waiting", "DOUBLE", "requests that wait for room", "requests"),
        Column("kv_cache_use", "DOUBLE", "KV-cache blocks in use", "share"),
        Column("preemptions", "DOUBLE", "counter: requests preempted"),
        Column("prompt_tokens", "DOUBLE", "counter: prompt tokens computed", "tokens"),
        Column("generation_tokens", "DOUBLE", "counter: tokens generated", "tokens"),
        Column("prefix_queries", "DOUBLE", "counter: tokens looked up in the prefix cache"),
        Column("prefix_hits", "DOUBLE", "counter: of them, found"),
        Column("drafts", "DOUBLE", "counter: steps that drafted"),
        Column("draft_tokens", "DOUBLE", "counter: draft tokens proposed", "tokens"),
        Column("accepted_tokens", "DOUBLE", "counter: draft tokens accepted", "tokens"),
        Column("accepted_per_position", "JSON", "counters: accepted by place in the draft"),
        Column("gpu_memory_bytes", "DOUBLE", "memory in use on this machine's GPUs", "bytes"),
        Column("gpu_utilisation", "DOUBLE", "time a kernel ran, mean over GPUs", "share"),
    ),
)
