def cli(kind):
    return kind("x")
