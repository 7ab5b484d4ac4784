"""FedSGD simulation. Hospitals with different case mixes share one model object
(saves memory in the simulation); each visit computes a gradient and uploads it;
the server averages by sample count and takes the step."""
import copy

import torch
import torch.nn as nn


class Hospital:
    def __init__(self, name, n, shift, gen):
        self.name = name
        self.x = torch.randn(n, 6, generator=gen) + shift
        logit = 1.5 * self.x[:, 0] - self.x[:, 1] + 0.5 * self.x[:, 2] * self.x[:, 3]
        self.y = (logit + 0.3 * torch.randn(n, generator=gen) > 0).float()

    def __len__(self):
        return len(self.y)

    def local_gradient(self, model, criterion):
        model.zero_grad(set_to_none=False)
        loss = criterion(model(self.x).squeeze(1), self.y)
        loss.backward()
        payload = {k: p.grad.clone() for k, p in model.named_parameters()}
        return payload, loss.item()


class Server:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)
        self.inbox = []
        self.best, self.best_loss = None, float("inf")

    def receive(self, weight, payload):
        self.inbox.append((weight, payload))

    def aggregate(self):
        total = float(sum(w for w, _ in self.inbox))
        merged = {k: torch.zeros_like(p) for k, p in self.model.named_parameters()}
        for w, payload in self.inbox:
            for k in merged:
                merged[k] += (w / total) * payload[k]
        self.inbox.clear()
        for k, p in self.model.named_parameters():
            p.grad = merged[k]
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.opt.step()

    def keep_best(self, loss):
        if loss < self.best_loss:
            self.best_loss, self.best = loss, copy.deepcopy(self.model.state_dict())


def evaluate(model, hospitals, criterion):
    with torch.no_grad():
        losses = {h.name: criterion(model(h.x).squeeze(1), h.y).item() for h in hospitals}
    return losses


def main():
    torch.manual_seed(23)
    gen = torch.Generator().manual_seed(23)
    hospitals = [Hospital("north", 90, 0.8, gen), Hospital("coast", 60, -0.8, gen), Hospital("city", 20, 2.0, gen)]
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    criterion = nn.BCEWithLogitsLoss()
    server = Server(model, lr=0.2)
    for rnd in range(40):
        for h in hospitals:
            payload, _ = h.local_gradient(server.model, criterion)
            server.receive(len(h), payload)
        server.aggregate()
        losses = evaluate(server.model, hospitals, criterion)
        server.keep_best(sum(losses.values()))
        if rnd % 10 == 0 or rnd == 39:
            print("round %2d " % rnd + " ".join("%s %.3f" % kv for kv in losses.items()))
    print("best total %.3f" % server.best_loss)


if __name__ == "__main__":
    main()
