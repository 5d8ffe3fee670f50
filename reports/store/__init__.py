"""The DuckDB file: opening, loading, views, Parquet. Imports `schema`."""
