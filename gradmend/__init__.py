"""Gradmend: the cause of an autograd error, and a fix that has been run.

The one name that an installation adds. The service, the analyses and the sandbox lie in a folder
of its own (see `gradmend.parts`), so that a project's own `app` or `sandbox` is never hidden.
"""
