import numpy as np


class _Space:
    shape = (4,)
    n = 2


class _Env:
    observation_space = action_space = _Space()

    def reset(self):
        self.left = 5
        return np.zeros(4)

    def step(self, action):
        self.left -= 1
        return np.ones(4), 1.0, self.left == 0, {}


def make(name):
    return _Env()
