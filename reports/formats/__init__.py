"""One writer per report format. Imports `store`."""
