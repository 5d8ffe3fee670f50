"""Every code that an import can give a row, a turn or a warning is explained in docs/formats."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

REASON_OR_NONE = ("str | None", "tuple[str,", "tuple[ClaudeRow, str | None]")
"""What functions return that say why a row, a line or a span is not used."""

CODE = re.compile(r"[a-z]+(?:_[a-z0-9]+)*_?")


def said(node: ast.expr | None, names: Mapping[str, set[str]]) -> Iterator[str]:
    """The words an expression can be; of one that ends with the type of a row, the beginning."""
    match node:
        case ast.Constant(value=str(word)):
            yield word
        case ast.IfExp(body=body, orelse=other):
            yield from (*said(body, names), *said(other, names))
        case ast.BoolOp(values=several) | ast.Tuple(elts=several):
            for value in several:
                yield from said(value, names)
        case ast.JoinedStr(values=[ast.Constant(value=str(word)), *_]):
            yield word
        case ast.Name(id=name):
            yield from names.get(name, ())


def codes_of(tree: ast.Module, names: Mapping[str, set[str]]) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="warn"), args=[code, *_]):
                yield from said(code, names)
            case ast.Call(func=ast.Attribute(attr="skip" | "_enter"), args=[_, code]):
                yield from said(code, names)
            case ast.Call(func=ast.Name(id="Unsupported"), args=[_, _, code, *_]):
                yield from said(code, names)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="repaired"), attr="append")):
                yield from said(node.args[0], names)
            case ast.Assign(targets=[target], value=code):
                if ast.unparse(target).endswith("skip_reason"):
                    yield from said(code, names)
            case ast.FunctionDef(returns=ast.expr() as given):
                if ast.unparse(given).startswith(REASON_OR_NONE):
                    for inner in ast.walk(node):
                        if isinstance(inner, ast.Return):
                            yield from said(inner.value, names)


@pytest.fixture(scope="module")
def codes(root: Path) -> set[str]:
    files = [*(root / "traces" / "readers").rglob("*.py")]
    files += [root / "traces" / name for name in ("importing/importer.py", "session/sampling.py")]
    trees = [ast.parse(file.read_text()) for file in files]
    names: dict[str, set[str]] = defaultdict(set)
    for tree in trees:
        for node in tree.body:
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name)], value=ast.Constant(value=str(word))
                ) if name.isupper():
                    names[name].add(word)
    found = {code for tree in trees for code in codes_of(tree, names)} | names["NOT_DRAWN"]
    return {code for code in found if CODE.fullmatch(code)}


def test_all_kinds_are_found(codes: set[str]) -> None:
    assert codes >= {
        "split_record", "glued_records", "second_result_dropped", "parts_left_out", "torn_tail",
        "no_user_message", "response_empty", "not_sampled", "load_shape_only", "other_log_line",
        "not_an_object", "blank", "event_", "span_", "no_type", "synthetic_response",
    }  # fmt: skip


def test_every_code_is_explained(root: Path, codes: set[str]) -> None:
    pages = (root / "docs" / "formats").glob("*.md")
    documented = "\n".join(page.read_text() for page in pages)
    kinds = {code: f"`{code.partition('_')[0]}_…`" for code in codes}
    assert {c for c in codes if f"`{c}`" not in documented and kinds[c] not in documented} == set()
