"""What people read: the DuckDB store, its views and queries, and the report writers."""
