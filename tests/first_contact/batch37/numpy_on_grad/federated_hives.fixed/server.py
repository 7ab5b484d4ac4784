import copy

import numpy as np
import torch


class Server:
    def __init__(self, model, clients, per_round, seed):
        self.model = copy.deepcopy(model)
        self.clients = clients
        self.per_round = per_round
        self.rng = np.random.RandomState(seed)
        self.glob_acc, self.glob_loss = [], []

    def send_parameters(self):
        for client in self.clients:
            client.set_parameters(self.model)

    @torch.no_grad()
    def aggregate(self, selected):
        total = sum(c.train_samples for c in selected)
        for p in self.model.parameters():
            p.zero_()
        for c in selected:
            for p, q in zip(self.model.parameters(), c.model.parameters()):
                p.add_(q, alpha=c.train_samples / total)

    def test(self):
        return zip(*(c.test() for c in self.clients))

    def evaluate(self, round_number):
        corrects, losses, samples = self.test()
        acc = np.sum(corrects) / np.sum(samples)
        loss = np.sum(np.array(samples) * np.array(losses)) / np.sum(samples)
        self.glob_acc.append(acc)
        self.glob_loss.append(loss)
        print("round %d: accuracy %.3f, loss %.3f" % (round_number, acc, loss))

    def run(self, rounds):
        for r in range(rounds):
            self.send_parameters()
            selected = self.rng.choice(self.clients, self.per_round, replace=False)
            for client in selected:
                client.train()
            self.aggregate(selected)
            self.send_parameters()
            self.evaluate(r)
