def train_test_split(x, y, **kwargs):
    return x[:24], x[24:], y[:24], y[24:]
