import numpy as np


class _Space:
    shape = (4,)
    n = 2

    def sample(self):
        return 1


class _Env:
    observation_space = action_space = _Space()

    def reset(self, seed=None):
        return np.zeros(4, np.float32), {}

    def step(self, action):
        return np.ones(4, np.float32), 1.0, False, False, {}


def make(name):
    return _Env()
