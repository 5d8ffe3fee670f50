"""The format a request asks its content to have: `response_format` and `structured_outputs`.

    {"type": "json_schema", "json_schema": {"name": "r", "schema": {...}}}
    {"json": {...}} | {"json_object": true} | {"regex": "..."} | {"choice": ["a", "b"]}
    {"grammar": "root ::= ..."}

vLLM 0.32 `sampling_params.StructuredOutputsParams`. A grammar is checked where vLLM's own engine
for it is installed; a structural tag, which only binds parts of a text, is not.
"""

from dataclasses import dataclass
from typing import Any

from checks.formats import json_values, schema
from checks.formats.grammar import grammar_violation
from checks.formats.json_values import NotJson
from checks.formats.patterns import NotCheckable, PatternUnusable, matches


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """One format. `kind` is ``json``, ``regex``, ``choice``, ``grammar``, or another one."""

    kind: str
    rule: Any = None

    def violation(self, text: str) -> str | None:
        """How `text` violates the format; `None` where it does not. Raises `NotCheckable`."""
        if self.kind == "json":
            return self._json(text)
        if self.kind == "choice":
            return None if text in self.rule or text.strip() in self.rule else "is none of them"
        if self.kind == "regex":
            return self._regex(text)
        if self.kind == "grammar":
            return grammar_violation(self.rule, text)
        raise NotCheckable(f"a {self.kind} needs the engine's own matcher")

    def _json(self, text: str) -> str | None:
        try:
            value = json_values.parse_plain(text)
        except NotJson as error:
            return f"not JSON: {error}"
        if self.rule is None:
            return None
        try:
            found = schema.violations(self.rule, value)
        except schema.UnusableSchema as error:
            raise NotCheckable(f"the schema: {error}") from error
        return "; ".join(found) or None

    def _regex(self, text: str) -> str | None:
        try:
            found = matches(self.rule, text) or matches(self.rule, text.strip())
        except PatternUnusable as error:
            raise NotCheckable(f"the regex: {error}") from error
        return None if found else f"does not match {self.rule!r}"


def output_format(request: dict[str, Any]) -> OutputFormat | None:
    """The format of the content; `None` where it is free text."""
    wanted = request.get("response_format") or {}
    kind = wanted.get("type", "text")
    if kind == "json_schema":
        return _json_rule((wanted.get("json_schema") or {}).get("schema"))
    if kind == "json_object":
        return OutputFormat("json")
    if kind != "text":
        return OutputFormat(str(kind))
    outputs = request.get("structured_outputs") or {}
    if outputs.get("json") is not None:
        return _json_rule(outputs["json"])
    if outputs.get("json_object"):
        return OutputFormat("json")
    for name in ("regex", "choice", "grammar", "structural_tag"):
        if outputs.get(name) is not None:
            return OutputFormat(name, outputs[name])
    return None


def _json_rule(rule: Any) -> OutputFormat:
    """A schema may be given as JSON text (`structured_outputs.json`)."""
    if not isinstance(rule, str):
        return OutputFormat("json", rule)
    try:
        return OutputFormat("json", json_values.parse_plain(rule))
    except NotJson:
        return OutputFormat("schema that is not JSON")
