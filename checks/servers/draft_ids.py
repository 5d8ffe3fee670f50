"""What a reader must know of a run whose candidate was launched with draft ids."""

from collections.abc import Iterator, Mapping, Sequence

from traces.journal.path_facts import SERVED, PathFacts


def draft_id_notes(servers: Mapping[str, Sequence[PathFacts]]) -> Iterator[str]:
    """One line per server with the plugin, which is not quite the server that users are given."""
    for facts in (facts for path in servers.values() for facts in path):
        if facts.draft_ids == SERVED:
            yield (
                f"the {facts.path} ran with draftgate's plugin for draft ids, and both paths "
                "without asynchronous scheduling (`run.draft_ids`)"
            )
        elif facts.draft_ids is not None:
            yield (
                f"draft ids are not available ({facts.path}: {facts.draft_ids}); the run goes on "
                "without them, and without asynchronous scheduling"
            )
