class _Column(list):
    def astype(self, kind):
        return _Column(map(kind, self))

    def tolist(self):
        return list(self)


def read_csv(path):
    return {"review": _Column(["a b", "c d"] * 16), "label": _Column([0, 1] * 16)}
