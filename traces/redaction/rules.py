"""What counts as a secret, and as a person's name, in recorded text.

Token shapes come from detect-secrets (Apache-2.0), which keeps them up to date. Added are shapes it
lacks (gitleaks-style), whole private-key blocks, environment dumps, e-mails and home folders.
"""

import importlib
import logging
import re
import warnings
from dataclasses import dataclass
from functools import cache

DETECTORS = (
    ("artifactory", "ArtifactoryDetector", "artifactory-token", ("akc", "ap")),
    ("aws", "AWSKeyDetector", "aws-key", ("akia", "asia", "abia", "acca", "a3t", "aws")),
    ("azure_storage_key", "AzureStorageKeyDetector", "azure-key", ("accountkey",)),
    ("cloudant", "CloudantDetector", "cloudant-token", ("cloudant",)),
    ("discord", "DiscordBotTokenDetector", "discord-token", ("discord", "bot")),
    ("github_token", "GitHubTokenDetector", "github-token", ("gh",)),
    ("gitlab_token", "GitLabTokenDetector", "gitlab-token", ("gl", "gr1348941")),
    ("ibm_cloud_iam", "IbmCloudIamDetector", "ibm-key", ("ibm", "cloud_iam", "cloud-iam")),
    ("mailchimp", "MailchimpDetector", "mailchimp-key", ("-us",)),
    ("npm", "NpmDetector", "npm-token", ("_authtoken",)),
    ("openai", "OpenAIDetector", "openai-key", ("t3blbkfj",)),
    ("pypi_token", "PypiTokenDetector", "pypi-token", ("pypi-",)),
    ("sendgrid", "SendGridDetector", "sendgrid-key", ("sg.",)),
    ("slack", "SlackDetector", "slack-token", ("xox", "hooks.slack")),
    ("softlayer", "SoftlayerDetector", "softlayer-token", ("softlayer",)),
    ("square_oauth", "SquareOAuthDetector", "square-secret", ("sq0csp",)),
    ("stripe", "StripeDetector", "stripe-key", ("k_live",)),
    ("telegram_token", "TelegramBotTokenDetector", "telegram-token", (":a",)),
    ("twilio", "TwilioKeyDetector", "twilio-key", ("ac", "sk")),
)
"""Module and class in ``detect_secrets.plugins``, the kind its findings are reported as, and words
of which a text must hold one (in lower case) to be worth searching. Left out are the detectors for
public IP addresses and for any high-entropy string: commit hashes are evidence."""

SECRET_WORDS = (
    "password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "api-key",
    "access_key", "accesskey", "private_key", "credential", "auth",
)  # fmt: skip

SECRET_NAME = (
    "(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API[_-]?KEY|ACCESS[_-]?KEY|PRIVATE[_-]?KEY"
    "|CREDENTIALS?|AUTH)(?:[_-][A-Z0-9_-]+)?"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """Matches of `pattern` are of a `kind`; `group` of the pattern is what is replaced.

    A text without any of `words` (lower case) cannot match.
    """

    kind: str
    pattern: re.Pattern[str]
    words: tuple[str, ...]
    group: int


def _rule(kind: str, words: str, pattern: str, flags: int = 0) -> Rule:
    compiled = re.compile(pattern, flags)
    return Rule(kind, compiled, tuple(words.split()), compiled.groups)


BLOCKS = (
    _rule(
        "private-key",
        "-----begin",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\:,-]*)",
        re.DOTALL,
    ),
    _rule(
        "private-key",
        "putty-user",
        r"PuTTY-User-Key-File-\d:.*?(?:Private-MAC: [0-9a-f]+|\Z)",
        re.DOTALL,
    ),
    _rule("jwt", "eyj", r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,3}"),
)
"""Looked for first: they hold text that other rules would cut into."""

TOKENS = (
    _rule("anthropic-key", "sk-ant", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    _rule("openai-key", "sk-", r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}"),
    _rule("huggingface-token", "hf_", r"\bhf_[A-Za-z0-9]{20,}"),
    _rule("google-key", "aiza", r"\bAIza[0-9A-Za-z_-]{35}"),
    _rule("google-token", "ya29.", r"\bya29\.[0-9A-Za-z_-]{20,}"),
    _rule(
        "github-token",
        "gh github_pat",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    ),
    _rule("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    _rule("stripe-key", "k_live k_test", r"\b[rs]k_(?:live|test)_[0-9a-zA-Z]{16,}"),
    _rule("slack-token", "xox", r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}"),
    _rule("bearer-token", "bearer", r"(?i:\bbearer\s+)([A-Za-z0-9._~+/-]{16,}=*)"),
    _rule(
        "basic-auth", "authorization", r"(?i:\bauthorization\W{1,4}basic\s+)([A-Za-z0-9+/]{8,}=*)"
    ),
    _rule("url-password", "://", r"://[^\s:/?#@\"']*:([^\s/?#@\"']+)@"),
)

_NAMED = " ".join(SECRET_WORDS)
NAMED_VALUES = (
    _rule(
        "named-secret",
        _NAMED,
        rf"(?i:{SECRET_NAME}\\?[\"']?\s*(?:=>|=|:)\s*\\?[\"'])([^\s\"'\\]{{6,}})",
    ),
    _rule("named-secret", _NAMED, rf"{SECRET_NAME}=([^\s\"'$(`\\]{{6,}})"),
    _rule(
        "named-secret",
        _NAMED,
        r"(?i:--(?:password|passwd|token|secret|api-key)[= ])([^\s\"'$(`\\-][^\s\"'\\]{5,})",
    ),
)
"""Values told by the name before them: quoted in code and JSON, bare in environment dumps (upper
case names) and on command lines."""

PERSONAL = (
    _rule("email", "@", r"(?<![\w.%+-])[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24}\b"),
    _rule(
        "home-user",
        "/home/ /users/ :\\",
        r"(?:/home/|/Users/|\b[A-Za-z]:\\{1,4}Users\\{1,4})([A-Za-z0-9._-]+)",
    ),
)


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order in which they are applied."""
    found = []
    shown_by = warnings.showwarning
    for module, name, kind, words in DETECTORS:
        plugin = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)()
        found += [Rule(kind, pattern, words, 0) for pattern in plugin.denylist]
    if warnings.showwarning is not shown_by:
        # detect-secrets, as it is imported, hands every warning of the process to logging.
        logging.captureWarnings(False)
    return (*BLOCKS, *TOKENS, *found, *NAMED_VALUES, *PERSONAL)
