"""Pure judgement: findings, statistics, verdict. No I/O, clock, network or unseeded randomness."""
