"""The file that a story is about."""

from __future__ import annotations

import os.path

from models.generator.code import LANGUAGES, SourceFile, source_file
from models.generator.lexicon import Lexicon

CODE = ("python", "typescript", "go")


def file_of(
    lex: Lexicon, languages: tuple[str, ...] = LANGUAGES, functions: int | None = None
) -> SourceFile:
    language = lex.one(languages)
    count = functions or (lex.number(10, 24) if lex.chance(0.02) else lex.number(1, 4))
    return source_file(lex, language, lex.path(language), count)


def test_path(lex: Lexicon, file: SourceFile) -> str:
    stem, ext = os.path.splitext(os.path.basename(file.path))
    return {
        ".py": f"tests/test_{stem}.py",
        ".ts": f"tests/{stem}.test.ts",
        ".go": f"tests/{stem}_test.go",
    }[ext]
