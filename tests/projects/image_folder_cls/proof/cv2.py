import numpy as np

COLOR_BGR2RGB = 4


def imread(path):
    return np.full((40, 40, 3), len(path) * 5 % 256, np.uint8)


def cvtColor(image, code):
    return image[..., ::-1]


def resize(image, size):
    return np.ascontiguousarray(image[: size[1], : size[0]])
