def plot(*args):
    pass
