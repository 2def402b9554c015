"""Stand-ins for hardware a laptop has not: they ship, for virtual tables and for the tests."""
