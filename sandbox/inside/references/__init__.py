"""Reference runs: truncated graphs, permissive mode, common random numbers, double precision."""
