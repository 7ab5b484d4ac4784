"""The tracer in a user's own command: in its interpreter, without changing how it starts.

Each Python of the command runs `site/sitecustomize.py` as it starts; `witness` records, `overlay`
substitutes patched sources for files, `scratch` keeps the files of a repeated run apart from the
user's. Stdlib only until the program itself imports torch.
"""
