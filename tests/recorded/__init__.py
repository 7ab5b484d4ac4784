"""Runs that are recorded once and replayed: tests of the host's logic without waiting for torch.

Everything of ours that runs user code goes through `sandbox.protocol.Session.run`. A recording maps
the digest of a job to the result that the real sandbox gave; `docs/testing.md` has the whole story.
"""
