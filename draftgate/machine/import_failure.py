"""An import that failed, in words a user can act on. Only the standard library is used here."""

from draftgate.machine.shadowing import FIX, shadows

EXTRAS = {
    "vllm": "pip install 'draftgate[vllm]' on a GPU host, 'draftgate[cpu]' on another machine",
}
"""Packages some verbs need and the plain install leaves out, with what gets them."""


def explained(error: ImportError) -> tuple[str, str] | None:
    """(what is wrong, how to fix it); `None` for a failure that is a fault of this program."""
    found = [str(shadow) for shadow in shadows()]
    if found:
        return f"{'; '.join(found)} ({error})", FIX
    package = (error.name or "").split(".")[0]
    if isinstance(error, ModuleNotFoundError) and package in EXTRAS:
        return f"this needs the package {package}, which is not installed", EXTRAS[package]
    return None
