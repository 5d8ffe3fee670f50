"""What `doctor` says of running servers, good and bad."""

import asyncio

import pytest

from draftgate.config.file import parse_config
from draftgate.machine.doctor import Check
from draftgate.preflight.checks import config_checks
from tests.support.scripted.server import Answer, scripted


def asked(answer: Answer) -> list[Check]:
    """The checks of the two paths of an attached configuration; both are the same server."""

    async def run() -> list[Check]:
        async with scripted(lambda seen: answer) as server:
            path = {"urls": [server.url]}
            config = parse_config(
                {
                    "baseline": path,
                    "candidate": {**path, "speculative_config": {"num_speculative_tokens": 3}},
                },
                "test",
            )
            found = await asyncio.to_thread(lambda: list(config_checks(config)))
            return [check for check in found if server.url in check.name]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "state", "found", "fix"),
    [
        (Answer(writes=[b'{"data": [{"id": "m"}, {"id": "n"}]}']), "ok", "serves m, n", ""),
        (Answer(writes=[b'{"data": []}']), "missing", "serves nothing", "served_model_name"),
        (Answer(status=404), "missing", "no answer from /v1/models", "fix the URL"),
        (Answer(status=401), "missing", "refuses access (status 401)", "`api_key_env`"),
        (Answer(writes=[b"<html>"]), "missing", "no answer from /v1/models", "fix the URL"),
        (Answer(writes=[b'{"data": 3}']), "missing", "no list of models", "vLLM server?"),
        (Answer(drop="before"), "missing", "cannot be reached", "check the URL"),
    ],
)
def test_an_endpoint_is_asked_for_its_models(
    answer: Answer, state: str, found: str, fix: str
) -> None:
    checks = asked(answer)
    assert len(checks) == 2
    for check in checks:
        assert check.state == state
        assert found in check.found
        assert fix in check.fix
