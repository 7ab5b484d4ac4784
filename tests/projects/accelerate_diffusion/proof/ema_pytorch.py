class EMA:
    def __init__(self, *args, **kwargs):
        pass

    def update(self):
        pass
