"""What is known of a run, as rows for the store: one module per group of tables."""
