import numpy as np


class _Frame:
    def __getitem__(self, key):
        class Values:
            values = np.random.rand(12, 4) if isinstance(key, list) else np.arange(12) % 2

        return Values


def read_csv(path):
    return _Frame()
