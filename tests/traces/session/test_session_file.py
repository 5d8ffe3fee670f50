"""Session files: what is written comes back; what is no session is named with its line."""

from pathlib import Path

import pytest

from tests.support.sessions.invariants import check_file
from tests.support.sessions.recordings import claude, lines, read, use
from traces.errors import InputError
from traces.importing.importer import import_files
from traces.session.file import read_sessions, session_lines, write_sessions
from traces.session.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    _, (found,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", use("c1", command="ls"), message="m1"),
            claude("user", "u2", "a1", "more"),
            claude("assistant", "a2", "u2", "end", message="m2"),
        ),
    )
    return found


def test_what_is_written_comes_back(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "sessions.jsonl"
    assert write_sessions([session, session], file) == 2
    again = list(read_sessions(file))
    assert again == [session, session]
    assert again[0].prefix(again[0].turns[1]) == session.prefix(session.turns[1])


def test_prefixes_are_stored_as_differences(session: Session) -> None:
    first, second = session.turns
    assert (first.base, first.keep, first.restart) == (None, 0, "start")
    assert (second.base, second.keep, second.restart) == ("t0000", 2, None)
    assert len(second.added) == 1
    assert session.prefix_ids(second) == [*first.added, first.output, *second.added]


def test_a_failed_write_leaves_nothing(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "sessions.jsonl"
    file.write_text("old")

    def broken() -> object:
        yield session
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_sessions(broken(), file)  # type: ignore[arg-type]
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".partial"] == []


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda rows: [rows[1], *rows], 1),
        (lambda rows: [rows[0].replace(b"session/1", b"session/9"), *rows[1:]], 1),
        (lambda rows: [rows[0], b"{torn\n", *rows[1:]], 2),
        (lambda rows: [*rows[:2], b'{"record":"turn","turn_id":1}\n'], 3),
        (lambda rows: [*rows[:2], b'{"record":"song"}\n'], 3),
        (lambda rows: [*rows[:2], b"[1]\n"], 3),
        (lambda rows: [rows[0].replace(b'"turns":2', b'"turns":' + b"9" * 30), *rows[1:]], 1),
        (lambda rows: [rows[0].replace(b"{}", b"[" * 400 + b"]" * 400), *rows[1:]], 1),
        (lambda rows: [rows[0], rows[1].replace(b'rows":[', b'rows":[' + b"9" * 30 + b",")], 2),
    ],
)
def test_bad_records_are_named_with_their_line(
    session: Session, tmp_path: Path, damage: object, line: int
) -> None:
    file = tmp_path / "sessions.jsonl"
    assert callable(damage)
    file.write_bytes(b"".join(damage(list(session_lines(session)))))
    with pytest.raises(InputError, match=rf"sessions\.jsonl: line {line} is not") as caught:
        list(read_sessions(file))
    assert "draftgate import" in caught.value.fix


def without(kind: bytes, number: int) -> object:
    """The lines of a session but for one of those that are records of a kind."""

    def damage(rows: list[bytes]) -> list[bytes]:
        of_kind = [row for row in rows if row.startswith(b'{"record":"%s"' % kind)]
        return [row for row in rows if row != of_kind[number]]

    return damage


def changed(old: bytes, new: bytes) -> object:
    return lambda rows: [row.replace(old, new) for row in rows]


@pytest.mark.parametrize(
    ("damage", "flaw"),
    [
        (without(b"message", 0), "names a message that is missing"),
        (without(b"turn", 0), "is out of its order"),
        (changed(b'"base":"t0000"', b'"base":"t0001"'), "does not continue the turn before it"),
        (changed(b'"index":1,"thread":"main"', b'"index":1,"thread":"b"'), "does not continue"),
        (changed(b'"keep":2', b'"keep":1'), "does not say right whether it starts anew"),
        (changed(b'"keep":2', b'"keep":3'), "keeps more messages than there were"),
        (changed(b'"keep":2', b'"keep":-1'), "keeps more messages than there were"),
        (changed(b'{\\"command', b'[{\\"command'), "are no JSON object"),
        (without(b"turn", 1), "lacks 1 turn"),
        (lambda rows: [row for row in rows if b'"turn"' not in row], "its turns are missing"),
    ],
)
def test_a_session_that_does_not_fit_together(
    session: Session, tmp_path: Path, damage: object, flaw: str
) -> None:
    assert callable(damage)
    sound = list(session_lines(session))
    torn = damage(sound)
    assert torn != sound
    file = tmp_path / "sessions.jsonl"
    file.write_bytes(b"".join([*sound, *torn, *sound]))
    with pytest.raises(InputError, match=f"line {len(sound) + 1} on .*{flaw}"):
        list(read_sessions(file))
    (imported,) = import_files([file])
    read_anyway = list(imported.sessions)
    check_file(imported, read_anyway)
    if "lacks" in flaw:
        assert [len(one.turns) for one in read_anyway] == [2, 1, 2]
        assert "turns_missing" in {warning.code for warning in imported.warnings}
    else:
        assert [len(one.turns) for one in read_anyway] == [2, 2]
        assert imported.skipped == {"damaged_session": len(torn)}


def test_a_bad_line_costs_the_session_that_needs_it(session: Session, tmp_path: Path) -> None:
    sound = list(session_lines(session))
    for place in range(len(sound)):
        file = tmp_path / "sessions.jsonl"
        file.write_bytes(
            b"".join([*sound, *sound[:place], b"{torn\n", *sound[place + 1 :], *sound])
        )
        (imported,) = import_files([file])
        read_anyway = list(imported.sessions)
        check_file(imported, read_anyway)
        assert imported.skipped["not_canonical"] == 1
        assert len(read_anyway) >= 1
        assert imported.ledger.rows == 3 * len(sound)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.jsonl"):
        list(read_sessions(tmp_path / "nowhere.jsonl"))
