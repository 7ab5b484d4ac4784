"""Federated SGD for the length of a hospital stay; one of the hospitals sends rubbish."""
import torch
import torch.nn as nn


class Hospital:
    def __init__(self, number, generator, faulty=False):
        self.number, self.faulty = number, faulty
        shift = 0.3 * number
        self.x = torch.randn(40, 5, generator=generator) + shift
        weights = torch.tensor([1.0, -0.5, 0.8, 0.0, 0.3])
        self.y = self.x @ weights + 0.1 * torch.randn(40, generator=generator)
        if faulty:
            self.y = -10 * self.y

    def batch(self, size, generator):
        idx = torch.randint(0, 40, (size,), generator=generator)
        return self.x[idx], self.y[idx]

    def local_gradient(self, model, generator):
        x, y = self.batch(16, generator)
        loss = nn.functional.huber_loss(model(x).squeeze(1), y)
        for param in model.parameters():
            if param.grad is not None:
                param.grad.zero_()
        loss.backward()
        return [param.grad.detach() for param in model.parameters()], loss.item()


class Server:
    def __init__(self, model, hospitals, lr):
        self.model, self.hospitals = model, hospitals
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)

    def aggregate(self, updates):
        return [torch.stack(grads).median(dim=0).values for grads in zip(*updates)]

    def round(self, generator):
        updates, losses = [], []
        for hospital in self.hospitals:
            gradient, loss = hospital.local_gradient(self.model, generator)
            updates.append(gradient)
            losses.append(loss)
        for param, grad in zip(self.model.parameters(), self.aggregate(updates)):
            param.grad = grad
        self.optimizer.step()
        honest = [l for l, h in zip(losses, self.hospitals) if not h.faulty]
        return sum(honest) / len(honest)


def main():
    torch.manual_seed(70)
    generator = torch.Generator().manual_seed(70)
    hospitals = [Hospital(k, generator, faulty=(k == 4)) for k in range(5)]
    model = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
    server = Server(model, hospitals, lr=0.05)
    for number in range(20):
        loss = server.round(generator)
        if number % 5 == 4:
            print("round %d  honest loss %.4f" % (number, loss))


main()
