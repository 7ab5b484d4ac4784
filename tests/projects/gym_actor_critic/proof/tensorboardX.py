class SummaryWriter:
    def __init__(self, *args):
        pass

    def add_scalar(self, *args):
        pass
