"""What table timers and hub have in common: the rules of the sport and the words on the wire."""
