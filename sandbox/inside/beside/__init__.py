"""The tracer beside a user's own command: in his interpreter, without changing how it starts.

`site/sitecustomize.py` is what each Python of the command runs as it starts; `witness` records,
`overlay` lets patched sources take the place of files, `scratch` keeps the files of a repeated run
apart from the user's. Stdlib only until the program itself imports torch.
"""
