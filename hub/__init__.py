"""The hub: collects what the tables timed, ranks everyone and shows it."""
