"""Chaos: a whole hall of real processes to which everything happens that a seed draws, and what must hold then."""
