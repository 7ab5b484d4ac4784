import copy

import torch
import torch.nn.functional as F


class SessionLearner:
    def __init__(self, net, lr=5e-3, per_class=15, temperature=2.0):
        self.net = net
        self.optimizer = torch.optim.Adam(net.trunk.parameters(), lr=lr)
        self.temperature = temperature
        self.per_class = per_class
        self.exemplars = []
        self.teacher = None

    def begin(self, fresh):
        if self.net.known:
            self.teacher = copy.deepcopy(self.net).eval().requires_grad_(False)
        self.optimizer.param_groups = self.optimizer.param_groups[:1]
        self.net.widen(fresh)
        self.optimizer.add_param_group({"params": self.net.head.parameters()})

    def distil(self, x, logits):
        if self.teacher is None:
            return logits.new_zeros(())
        t = self.temperature
        old = self.teacher(x) / t
        return F.kl_div(F.log_softmax(logits[:, : old.shape[1]] / t, 1), F.softmax(old, 1),
                        reduction="batchmean") * t * t

    def study(self, x, y, epochs):
        if self.exemplars:
            x = torch.cat([x] + [e[0] for e in self.exemplars])
            y = torch.cat([y] + [e[1] for e in self.exemplars])
        for _ in range(epochs):
            for rows in torch.randperm(len(x)).split(32):
                logits = self.net(x[rows])
                loss = F.cross_entropy(logits, y[rows]) + 0.5 * self.distil(x[rows], logits)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return loss.item()

    def end(self, x, y):
        for colony in y.unique():
            rows = (y == colony).nonzero().flatten()[: self.per_class]
            self.exemplars.append((x[rows], y[rows]))

    @torch.no_grad()
    def accuracy(self, x, y):
        return (self.net(x).argmax(1) == y).float().mean().item()
