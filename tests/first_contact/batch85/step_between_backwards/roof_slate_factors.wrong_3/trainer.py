"""As much of a trainer as we need."""


class Trainer:
    def __init__(self, epochs, callbacks=()):
        self.epochs = epochs
        self.callbacks = list(callbacks)
        self.logged = {}

    def log(self, **values):
        for name, value in values.items():
            self.logged.setdefault(name, []).append(float(value))

    def fit(self, module, loader):
        module.trainer = self
        optimizers = module.configure_optimizers()
        for epoch in range(self.epochs):
            module.train()
            for batch in loader:
                losses = module.training_step(batch)
                for optimizer in optimizers:
                    optimizer.zero_grad()
                sum(losses).backward()
                for optimizer in optimizers:
                    optimizer.step()
            for callback in self.callbacks:
                callback(epoch, module, {k: sum(v) / len(v) for k, v in self.logged.items()})
            self.logged.clear()
