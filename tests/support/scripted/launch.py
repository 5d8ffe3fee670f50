"""A server process that stands in for vLLM and starts, fails or dies on demand."""

from pathlib import Path

from replay.launch.command import ServerSpec

STAND_IN = Path(__file__).parent / "stand_in"


def spec(model: Path, mode: str, **more: object) -> ServerSpec:
    env = {
        "PYTHONPATH": str(STAND_IN),
        "STAND_IN": mode,
        "STAND_IN_CHILD": str(model / "child"),
        **more.pop("env", {}),  # type: ignore[dict-item]
    }
    return ServerSpec("candidate", str(model), env=env, **more)  # type: ignore[arg-type]
