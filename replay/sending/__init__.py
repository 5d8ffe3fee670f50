"""The stream client, requests, arms, retries and resume. Imports `traces` only."""
