def info(*args):
    pass
