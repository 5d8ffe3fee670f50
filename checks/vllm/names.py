"""Which parsers the installed vLLM knows, and the nearest to a name that it does not."""

import difflib
from collections.abc import Sequence

from traces.errors import InputError


def tool_parser_names() -> list[str]:
    """The tool parsers the installed vLLM knows."""
    _import_in_order()
    from vllm.tool_parsers import _TOOL_PARSERS_TO_REGISTER

    return sorted(_TOOL_PARSERS_TO_REGISTER)


def reasoning_parser_names() -> list[str]:
    """The reasoning parsers the installed vLLM knows."""
    _import_in_order()
    from vllm.reasoning import _REASONING_PARSERS_TO_REGISTER

    return sorted(_REASONING_PARSERS_TO_REGISTER)


def vllm_version() -> str:
    """The version of the installed vLLM."""
    import vllm

    return str(vllm.__version__)


def refuse_unknown(kind: str, name: str | None, known: Sequence[str]) -> None:
    """Raise `InputError` with the nearest names for a parser that is not among `known`."""
    if name is None or name in known:
        return
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    raise InputError(
        f"vLLM {vllm_version()} has no {kind} {name!r}", f"{meant}known: {', '.join(known)}"
    )


def _import_in_order() -> None:
    """As the first import of vLLM `vllm.tool_parsers` is circular; `vllm.config` goes before."""
    import vllm.config  # noqa: F401
