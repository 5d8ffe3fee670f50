"""The stories a session is made of: what is asked, done, found and reported."""

from __future__ import annotations

from models.generator.session import Story
from models.generator.stories.finding import explore, history, lookup
from models.generator.stories.repairing import repair
from models.generator.stories.telling import compare, question
from models.generator.stories.writing import author, configure

STORIES: tuple[Story, ...] = (
    repair,
    repair,
    explore,
    explore,
    lookup,
    lookup,
    history,
    author,
    compare,
    compare,
    question,
    configure,
)
"""A story's chance is how often it stands here."""
