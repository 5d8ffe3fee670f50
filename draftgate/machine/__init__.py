"""This machine: what it has, what shadows a package, how a failure reads."""
