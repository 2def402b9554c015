"""A GPIO chip for a machine that has none: the C part is compiled when a test needs it."""
