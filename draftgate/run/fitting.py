"""Which turns fit the servers' context, measured once per run."""

from draftgate.run.collection import Collector
from draftgate.run.paths import OpenPath
from draftgate.run.record import Record


def fit_record(collector: Collector, record: Record, path: OpenPath) -> None:
    """Fill the record's limits and the turns that are too long, unless they are known."""
    if record.limits or record.too_long:
        return
    fitted = collector.fit(path, record.plan.jobs)
    record.too_long = fitted.skipped
    record.limits = {
        (job.session, job.turn): int(job.request["max_tokens"])
        for session in fitted.sessions
        for job in session
    }
