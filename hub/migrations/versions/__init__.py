"""One file per step, never changed once released."""
