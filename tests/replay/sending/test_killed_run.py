"""A run killed at any moment goes on where it was, and sends no finished turn twice."""

import asyncio
import sys
from collections import Counter
from pathlib import Path

import pytest

from replay.sending.arm import run_arm
from tests.support.scripted.arm import jobs, plan
from tests.support.scripted.server import Answer, Seen, scripted
from traces.journal.journal import JournalReader

RUN = """
import asyncio, sys
from pathlib import Path
from tests.support.scripted.arm import jobs, plan
from replay.sending.arm import run_arm
asyncio.run(run_arm(plan(sys.argv[1], concurrency=3), jobs(6, 5), Path(sys.argv[2])))
"""


@pytest.mark.parametrize("kill_at", [2, 11, 23])
def test_kill_9_in_the_middle_and_resume(tmp_path: Path, root: Path, kill_at: int) -> None:
    file = tmp_path / "j.jsonl.zst"
    answered: Counter[tuple[str, str]] = Counter()

    def script(seen: Seen) -> Answer:
        answered[seen.body["session"], seen.body["turn"]] += 1
        return Answer(gap_s=0.005)

    async def run() -> list[tuple[str, str]]:
        async with scripted(script) as server:
            killed = await asyncio.create_subprocess_exec(
                sys.executable, "-c", RUN, server.url, str(file), cwd=root
            )
            while sum(answered.values()) < kill_at:
                await asyncio.sleep(0.002)
            killed.kill()
            await killed.wait()
            kept = [(c.key.session, c.key.turn) for c in JournalReader(file)]
            answered.clear()
            result = await run_arm(plan(server.url, concurrency=3), jobs(6, 5), file)
            assert result.resumed == len(kept)
            assert result.done == 30
            return kept

    kept = asyncio.run(run())
    assert 0 < len(kept) < 30 or kill_at == 2
    assert not set(kept) & set(answered)
    assert set(answered.values()) == {1}
    assert len(answered) == 30 - len(kept)
    assert len({(c.key.session, c.key.turn) for c in JournalReader(file)}) == 30
