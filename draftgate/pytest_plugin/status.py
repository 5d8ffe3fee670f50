"""How pytest names a test whose outcome is inconclusive."""

REASON = "draftgate_reason"
"""Attribute of a report that holds why its test is inconclusive; it travels between processes."""

STATUS = ("inconclusive", "?", ("INCONCLUSIVE", {"yellow": True}))
"""Category, letter and word of such a report."""
