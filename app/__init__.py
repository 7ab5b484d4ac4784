"""The web service: HTTP API, pages, jobs, store. Never imports torch."""
