class History:
    """Keeps the values of each metric and reports their means."""

    def __init__(self, *names):
        self.values = {name: [] for name in names}

    def add(self, **metrics):
        for name, value in metrics.items():
            self.values[name].append(float(value))

    def report(self):
        return ", ".join(f"{name} {float(sum(v) / len(v)):.4f}" for name, v in self.values.items())
