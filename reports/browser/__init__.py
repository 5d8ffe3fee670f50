"""The store in a web browser on this machine: runs over time, reports, and a box for SQL."""
