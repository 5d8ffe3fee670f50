"""Source files in five languages with free choices of names, constants and shapes."""

# ruff: noqa: E501  one phrasing per line reads best, however long it is

from __future__ import annotations

from dataclasses import dataclass

from models.generator.lexicon import Lexicon

LANGUAGES = ("python", "typescript", "go", "shell", "yaml")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """`text` of a file and the name of one thing defined in it (`symbol`)."""

    path: str
    language: str
    text: str
    symbol: str


def python_function(lex: Lexicon, name: str) -> str:
    a, b, c = lex.variable(), lex.variable(), lex.variable()
    n, m = lex.number(2, 900), lex.number(1, 90)
    lines = [
        f"def {name}({a}: {lex.one(['int', 'str', 'list[int]', 'dict', 'float'])}, {b}: int = {n}):"
    ]
    if lex.chance(0.5):
        lines.append(f'    """{phrase(lex).capitalize()}."""')
    shapes = [
        [f"    {c} = []", f"    for {lex.noun()} in {a}:", f"        if {b} > {m}:", f"            {c}.append({lex.snake()}({b}))", f"    return {c}"],
        [f"    if not {a}:", f"        raise {lex.one(['ValueError', 'KeyError', 'RuntimeError'])}(\"{phrase(lex)}\")", f"    {c} = {a} {lex.one(['+', '*', '%', '//'])} {m}", f"    return {c} - {b}"],
        [f"    with open({a}) as {lex.noun()}:", f"        {c} = json.load({lex.noun()})", f"    return {c}.get(\"{lex.variable()}\", {m})"],
        [f"    {c} = {lex.snake()}({a})", "    try:", f"        return {c}[{b}]", f"    except {lex.one(['IndexError', 'KeyError', 'TypeError'])}:", f"        logger.{lex.one(['info', 'warning', 'error'])}(\"{phrase(lex)}\")", f"        return {lex.one(['None', '0', str(m), '[]'])}"],
        [f"    {c} = sum({lex.variable()} for {lex.noun()} in {a})", f"    while {c} > {b}:", f"        {c} -= {m}", f"    return {c}, {b}"],
    ]  # fmt: skip
    return "\n".join(lines + lex.rng.choice(shapes))


def typescript_function(lex: Lexicon, name: str) -> str:
    a, b, c = lex.camel(), lex.noun(), lex.noun()
    n, m = lex.number(2, 900), lex.number(1, 90)
    kind = lex.one(["number", "string", "boolean", "string[]"])
    head = f"export {lex.one(['', 'async '])}function {name}({b}: {kind}, {c} = {n}) {{"
    shapes = [
        [f"  const {a} = {b}.map(({lex.noun()}) => {lex.camel()}({c} + {m}));", f"  return {a};"],
        [f"  if ({b} === undefined) {{", f"    throw new Error('{phrase(lex)}');", "  }", f"  return {c} * {m};"],
        [f"  const {a} = await {lex.camel()}({b});", f"  return {a}.{lex.noun()} ?? {m};"],
        [f"  for (const {lex.noun()} of {b}) {{", f"    {lex.camel()}({c}, {m});", "  }", f"  return {lex.one(['true', 'false', 'null', c])};"],
    ]  # fmt: skip
    return "\n".join([head, *lex.rng.choice(shapes), "}"])


def go_function(lex: Lexicon, name: str) -> str:
    a, b, c = lex.noun(), lex.noun(), lex.camel()
    n, m = lex.number(2, 900), lex.number(1, 90)
    head = f"func {name}({a} {lex.one(['int', 'string', '[]byte'])}, {b} int) (int, error) {{"
    shapes = [
        [f"\t{c}, err := {lex.camel()}({a})", "\tif err != nil {", f'\t\treturn 0, fmt.Errorf("{phrase(lex)}: %w", err)', "\t}", f"\treturn {c} + {m}, nil"],
        [f"\tfor i := 0; i < {b}; i++ {{", f"\t\t{lex.camel()}(i, {n})", "\t}", f"\treturn {m}, nil"],
        [f"\tif {b} > {n} {{", f'\t\treturn 0, errors.New("{phrase(lex)}")', "\t}", f"\treturn {b} - {m}, nil"],
    ]  # fmt: skip
    return "\n".join([head, *lex.rng.choice(shapes), "}"])


def shell_function(lex: Lexicon, name: str) -> str:
    variable = lex.noun().upper()
    shapes = [
        [f'  for {lex.noun()} in {lex.noun()}/*.{lex.one(["log", "json", "txt"])}; do', f'    {lex.one(["grep -q", "wc -l", "rm -f"])} "{lex.variable()}" "${variable}"', "  done"],
        [f'  if [ -z "${variable}" ]; then', f'    echo "{phrase(lex)}" >&2', f"    exit {lex.number(1, 9)}", "  fi"],
        [f'  curl -s "http://localhost:{lex.number(1000, 9999)}/{lex.noun()}" | jq .{lex.noun()}'],
    ]  # fmt: skip
    return "\n".join([f"{name}() {{", *lex.rng.choice(shapes), "}"])


def yaml_block(lex: Lexicon, name: str) -> str:
    lines = [f"{name}:"]
    for _ in range(lex.number(2, 5)):
        key = lex.variable()
        value = lex.rng.choice(
            [str(lex.number()), lex.one(["true", "false"]), f'"{lex.version()}"', lex.variable()]
        )
        lines.append(f"  {key}: {value}")
    if lex.chance(0.5):
        lines.append(f"  {lex.noun()}:")
        lines += [f"    - {lex.variable()}" for _ in range(lex.number(2, 4))]
    return "\n".join(lines)


WRITERS = {
    "python": python_function,
    "typescript": typescript_function,
    "go": go_function,
    "shell": shell_function,
    "yaml": yaml_block,
}


def symbol(lex: Lexicon, language: str) -> str:
    """A function name in the manner of the language (exported in Go)."""
    if language == "go":
        name = lex.camel()
        return name[0].upper() + name[1:]
    return lex.camel() if language == "typescript" else lex.snake()


def phrase(lex: Lexicon) -> str:
    """A short clause: `the stale cursor was not flushed`."""
    shapes = [
        f"{lex.noun()} {lex.noun()} is {lex.adjective()}",
        f"{lex.verb()} the {lex.adjective()} {lex.noun()}",
        f"{lex.one(['no', 'bad', 'missing', 'unexpected'])} {lex.noun()} for {lex.noun()}",
        f"cannot {lex.verb()} {lex.noun()} {lex.adverb()}",
    ]
    return lex.one(shapes)


def imports(lex: Lexicon, language: str) -> str:
    if language == "python":
        return f"import {lex.one(['json', 'os', 're', 'time'])}\nfrom {lex.noun()}.{lex.noun()} import {lex.snake()}\n\n{lex.noun().upper()} = {lex.number()}\n"
    if language == "typescript":
        return f"import {{ {lex.camel()} }} from './{lex.noun()}';\n"
    if language == "go":
        return f'package {lex.noun()}\n\nimport "{lex.one(["fmt", "errors", "time"])}"\n'
    if language == "shell":
        return f"#!/bin/sh\nset -e\n{lex.noun().upper()}={lex.variable()}\n"
    return f"# {phrase(lex)}\nversion: {lex.number(1, 9)}\n"


def source_file(lex: Lexicon, language: str, path: str, functions: int) -> SourceFile:
    """A file of `functions` definitions; the first has the file's `symbol`."""
    main = symbol(lex, language)
    names = [main, *(symbol(lex, language) for _ in range(functions - 1))]
    lex.rng.shuffle(names)
    body = "\n\n".join(WRITERS[language](lex, name) for name in names)
    return SourceFile(path, language, f"{imports(lex, language)}\n{body}\n", main)
