"""What counts as a secret, and as a person's name, in recorded text.

Token shapes come from detect-secrets (Apache-2.0), which keeps them up to date. Added are shapes it
lacks (gitleaks-style), whole private-key blocks, environment dumps, e-mails and home folders.
"""

import importlib
import logging
import re
import warnings
from functools import cache

from traces.redaction.named import NAMED_VALUES
from traces.redaction.people import EMAIL, HOME, SERVICES, is_person
from traces.redaction.rule import Rule, rule

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

BLOCKS = (
    rule(
        "private-key",
        "-----begin",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\:,-]*)",
        re.DOTALL,
    ),
    rule(
        "private-key",
        "putty-user",
        r"PuTTY-User-Key-File-\d:.*?(?:Private-MAC: [0-9a-f]+|\Z)",
        re.DOTALL,
    ),
    rule("jwt", "eyj", r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,3}"),
)
"""Looked for first: they hold text that other rules would cut into."""

TOKENS = (
    rule("slack-token", "xapp-", r"\bxapp-\d-[A-Z0-9]+-\d+-[0-9a-f]{32,}"),
    rule("digitalocean-token", "_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    rule("shopify-token", "shp", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    rule("vault-token", "hvs. hvb.", r"\bhv[sb]\.[A-Za-z0-9_-]{24,}"),
    rule("databricks-token", "dapi", r"\bdapi[0-9a-f]{32}\b"),
    rule("grafana-token", "glsa_", r"\bglsa_[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    rule("grafana-token", "glc_", r"\bglc_[A-Za-z0-9+/=]{32,}"),
    rule("linear-key", "lin_api_", r"\blin_api_[A-Za-z0-9]{40}\b"),
    rule("groq-key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,}\b"),
    rule("xai-key", "xai-", r"\bxai-[A-Za-z0-9]{40,}\b"),
    rule("perplexity-key", "pplx-", r"\bpplx-[A-Za-z0-9]{32,}\b"),
    rule("nvidia-key", "nvapi-", r"\bnvapi-[A-Za-z0-9_-]{40,}"),
    rule("replicate-token", "r8_", r"\br8_[A-Za-z0-9]{37}\b"),
    rule("mailgun-key", "key-", r"\bkey-[0-9a-f]{32}\b"),
    rule("age-key", "age-secret-key-1", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b"),
    rule("postman-key", "pmak-", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b"),
    rule("rubygems-key", "rubygems_", r"\brubygems_[0-9a-f]{48}\b"),
    rule("sentry-token", "sntry", r"\bsntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    rule("new-relic-key", "nrak-", r"\bNRAK-[A-Z0-9]{27}\b"),
    rule("figma-token", "figd_", r"\bfigd_[A-Za-z0-9_-]{40,}"),
    rule("atlassian-token", "atatt3", r"\bATATT3[A-Za-z0-9_=-]{60,}"),
    rule("discord-webhook", "webhooks", r"discord(?:app)?\.com/api/webhooks/\d+/([\w-]{40,})"),
    rule("anthropic-key", "sk-ant", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    rule("openai-key", "sk-", r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}"),
    rule("huggingface-token", "hf_", r"\bhf_[A-Za-z0-9]{20,}"),
    rule("google-key", "aiza", r"\bAIza[0-9A-Za-z_-]{35}"),
    rule("google-token", "ya29.", r"\bya29\.[0-9A-Za-z_-]{20,}"),
    rule(
        "github-token",
        "gh github_pat",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    ),
    rule("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    rule("stripe-key", "k_live k_test", r"\b[rs]k_(?:live|test)_[0-9a-zA-Z]{16,}"),
    rule("slack-token", "xox", r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}"),
    rule("bearer-token", "bearer", r"(?i:\bbearer\s+)([A-Za-z0-9._~+/-]{16,}=*)"),
    rule(
        "basic-auth", "authorization", r"(?i:\bauthorization\W{1,4}basic\s+)([A-Za-z0-9+/]{8,}=*)"
    ),
)

PERSONAL = (
    rule("email", "@", EMAIL, accepts=lambda mail: mail.group().split("@")[0] not in SERVICES),
    rule("home-user", "/home/ /users/ :\\", HOME, accepts=lambda home: is_person(home.group(1))),
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
