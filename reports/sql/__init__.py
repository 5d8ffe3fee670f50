"""Questions to the store: SQL, named queries, comparisons, answers. Imports `store`."""
