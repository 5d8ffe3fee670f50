"""Scripts that measure how well the gate itself works; they make the tables of docs/evidence.md."""
