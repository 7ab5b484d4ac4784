import torch


class Events:
    """Payments in order of time: who, to whom, when, how much."""

    def __init__(self, n_accounts, n_events):
        self.n_accounts = n_accounts
        group = torch.arange(n_accounts) % 3
        self.src = torch.randint(n_accounts, (n_events,))
        same = torch.stack([torch.multinomial((group == group[s]).float(), 1)[0] for s in self.src])
        anyone = torch.randint(n_accounts, (n_events,))
        self.dst = torch.where(torch.rand(n_events) < 0.85, same, anyone)
        self.t = torch.rand(n_events).mul(10).sort().values
        self.amount = torch.rand(n_events).add(0.5).log()

    def __len__(self):
        return len(self.src)

    def batches(self, size):
        for i in range(0, len(self), size):
            s = slice(i, i + size)
            yield self.src[s], self.dst[s], self.t[s], self.amount[s]
