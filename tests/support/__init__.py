"""What tests, benchmarks and evidence share: servers, runs, sessions and cases that are made up."""
