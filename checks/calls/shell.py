"""Shell commands compared by what they run: words, quoting, order of plain flags.

    >>> canonical("ls  -l -a 'src'") == canonical("ls -al src")
    True
    >>> canonical("echo '$HOME'") == canonical('echo "$HOME"')
    False

A lexer of POSIX words (POSIX.1-2017, Shell Command Language, 2.2 and 2.3) and no full grammar:
commands with substitutions (``$(…)``, backquotes, ``<(…)``) and here-documents are not parsed, so
that only equal text counts as equal there. Which characters a shell would act on is kept apart from
the same characters in quotes.
"""

from dataclasses import dataclass, field

NOT_PARSED = ("$(", "`", "<<", "<(", ">(")
ACTIVE = "*?[]{}~!$="
"""Unquoted, a shell acts on these inside a word."""

OPERATORS = ("&&", "||", ";;", "|&", "&>", ">>", ">&", "<&", ";", "|", "&", "(", ")", "<", ">")
JOINERS = ("&&", "||", "|", "|&", ";", "&", "(")
"""Behind these a line end means nothing."""

FREE_FLAGS = {
    "ls": "alhRrtFdi",
    "grep": "rnilwxHsovIE",
    "rm": "rRfvd",
    "cp": "rRvfp",
    "mkdir": "pv",
    "wc": "lwcm",
    "sort": "rnu",
    "du": "sh",
}
"""Flags without a value whose order changes nothing, of one command each; of flags that exclude
each other only one is named."""


@dataclass(slots=True)
class _Words:
    """The words and operators read so far; `mark` tells what is active from what is quoted."""

    found: list[str] = field(default_factory=list)
    word: str | None = None

    def add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def end(self) -> None:
        if self.word is not None:
            self.found.append(self.word)
            self.word = None

    def operator(self, name: str) -> None:
        """A file descriptor stands directly before its redirection, as no word of its own."""
        fd = ""
        if name[0] in "<>" and self.word is not None and self.word.isdigit():
            fd, self.word = self.word, None
        self.end()
        self.found.append(f"\x02{fd}{name}")

    def line_end(self) -> None:
        self.end()
        if self.found and self.found[-1] not in {f"\x02{name}" for name in JOINERS}:
            self.found.append("\x02;")


def canonical(command: str) -> tuple[str, ...] | None:
    """The words and operators of a command; `None` where it is not parsed."""
    if any(mark in command for mark in (*NOT_PARSED, "\x01", "\x02", "\x03")):
        return None
    words = _Words()
    place = 0
    while place < len(command):
        step = _step(command, place, words)
        if step is None:
            return None
        place = step
    words.line_end()
    while words.found and words.found[-1] == "\x02;":
        words.found.pop()
    return tuple(_with_sorted_flags(words.found))


def _step(command: str, place: int, words: _Words) -> int | None:
    """Read a character, quoted run or operator: where the next begins; `None`: an open quote."""
    char = command[place]
    if char in "'\"":
        return _quoted(command, place, words)
    if char == "\\":
        escaped = command[place + 1 : place + 2]
        if escaped and escaped != "\n":
            words.add(escaped)
        return place + 2 if escaped else None
    if char == "#" and words.word is None:
        stop = command.find("\n", place)
        return len(command) if stop < 0 else stop
    if char == "\n":
        words.line_end()
    elif char in " \t\r":
        words.end()
    elif (name := next((o for o in OPERATORS if command.startswith(o, place)), None)) is not None:
        words.operator(name)
        return place + len(name)
    else:
        words.add(f"\x01{char}" if char in ACTIVE else char)
    return place + 1


def _quoted(command: str, place: int, words: _Words) -> int | None:
    """A quoted run. In double quotes ``$`` still acts, and its value stays one word."""
    quote, place = command[place], place + 1
    words.add("")
    while place < len(command):
        char = command[place]
        if char == quote:
            return place + 1
        if quote == '"' and char == "\\" and command[place + 1 : place + 2] in tuple('$"\\\n'):
            words.add(command[place + 1].replace("\n", ""))
            place += 2
            continue
        words.add("\x03$" if quote == '"' and char == "$" else char)
        place += 1
    return None


def _with_sorted_flags(words: list[str]) -> list[str]:
    """The plain flags right behind a command's name as one sorted word."""
    found: list[str] = []
    first = True
    place = 0
    while place < len(words):
        word = words[place]
        found.append(word)
        place += 1
        if first and word in FREE_FLAGS:
            letters = ""
            while place < len(words) and _are_free(words[place], FREE_FLAGS[word]):
                letters += words[place][1:]
                place += 1
            found += [f"-{''.join(sorted(letters))}"] if letters else []
        first = word in {f"\x02{name}" for name in JOINERS}
    return found


def _are_free(word: str, flags: str) -> bool:
    return len(word) > 1 and word[0] == "-" and set(word[1:]) <= set(flags)
