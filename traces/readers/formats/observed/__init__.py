"""Exports of tools that watch an application and keep each request to a model with its answer."""
