"""The table timer: buttons, clock, display, journal and delivery of one table."""
