"""Run the original script and trace it."""
