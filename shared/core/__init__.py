"""The sport itself, pure: no clock, disk, network, thread or log is read here."""
