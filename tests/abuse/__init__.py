"""Attacks on the sandbox. Each asserts containment, and that the next honest run still works."""
