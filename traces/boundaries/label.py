"""The labels: what a piece of output is part of.

| label | covers |
|---|---|
| `reasoning` | text between the reasoning markers |
| `prose` | text for the reader; fence lines and other Markdown belong to it |
| `code` | lines inside a code fence, and string arguments that hold source; with its language |
| `diff.header` | file headers, hunk headers, `*** Begin Patch`, search/replace separators |
| `diff.context`, `diff.add`, `diff.remove` | lines of a hunk; the searched and the new side |
| `tool.markup` | parser markers and the envelope of a call (`{"name": "`, `</function>`) |
| `tool.name` | the tool's name |
| `tool.key` | an argument's name, without its quotes |
| `tool.string` | a string argument that holds nothing of the above |
| `tool.number` | numbers, `true`, `false`, `null` |
| `tool.punct` | quotes, braces, commas, colons and white space of JSON arguments |
| `shell.command` | command lines, with prompt and heredoc markers |
| `shell.output` | what a console session or an output fence echoes |
| `special` | control tokens: end of turn, role and channel headers, reasoning markers |
"""

REASONING = "reasoning"
PROSE = "prose"
CODE = "code"
DIFF_HEADER = "diff.header"
DIFF_CONTEXT = "diff.context"
DIFF_ADD = "diff.add"
DIFF_REMOVE = "diff.remove"
MARKUP = "tool.markup"
NAME = "tool.name"
KEY = "tool.key"
STRING = "tool.string"
NUMBER = "tool.number"
PUNCT = "tool.punct"
COMMAND = "shell.command"
OUTPUT = "shell.output"
SPECIAL = "special"

LABELS = (
    REASONING,
    PROSE,
    CODE,
    DIFF_HEADER,
    DIFF_CONTEXT,
    DIFF_ADD,
    DIFF_REMOVE,
    MARKUP,
    NAME,
    KEY,
    STRING,
    NUMBER,
    PUNCT,
    COMMAND,
    OUTPUT,
    SPECIAL,
)
"""Every label, in the order reports list them."""

INDEX = {label: place for place, label in enumerate(LABELS)}
