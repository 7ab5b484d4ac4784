def HorizontalFlip(p):
    return p


def Compose(steps):
    return steps
