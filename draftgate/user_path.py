"""Paths on the command line."""

from pathlib import Path
from typing import Any

import click

from traces.errors import InputError
from traces.user_paths import expanded


class UserPath(click.Path):
    """A path in which ``~`` and environment variables are put in, whoever quoted it; a Path."""

    def __init__(self, **kinds: Any) -> None:
        super().__init__(path_type=Path, **kinds)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(expanded(str(value)), param, ctx)
        except InputError as error:
            self.fail(f"{error}; {error.fix}", param, ctx)
