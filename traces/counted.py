"""A number and its noun: ``1 case``, ``3 cases``, ``1,204 turns``."""


def counted(number: int, noun: str) -> str:
    """`number` with thousands set apart, and `noun`, which takes an ``s`` unless it is one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
