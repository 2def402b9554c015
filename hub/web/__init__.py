"""The hub's pages and its API."""
