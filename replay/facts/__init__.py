"""What a running server is, shows and counts. Imports `sending`, `launch` and `scoring`."""
