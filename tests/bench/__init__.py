"""The measured figures: `make bench`. Nothing here is a test."""
