"""What is known of a run, as rows for the store: one module per group of tables.

Imports `reports.schema`, `checks` and `traces`; of the store only the shape of what it takes in.
"""
