"""Task weights that balance gradient norms; the norms are themselves differentiated."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoTasks(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 20))
        self.heads = nn.ModuleList([nn.Linear(20, 1), nn.Linear(20, 4)])
        self.weights = nn.Parameter(torch.ones(2))

    def losses(self, x, y0, y1):
        h = F.relu(self.shared(x))
        return torch.stack([F.mse_loss(self.heads[0](h).squeeze(1), y0), F.cross_entropy(self.heads[1](h), y1)])


def main(alpha=1.0):
    torch.manual_seed(2)
    model = TwoTasks()
    body = [p for n, p in model.named_parameters() if n != "weights"]
    opt = torch.optim.Adam(body, lr=3e-3)
    opt_w = torch.optim.Adam([model.weights], lr=1e-2)
    first = None
    for it in range(10):
        x = torch.randn(48, 6)
        losses = model.losses(x, x[:, 0] * 10, (x[:, 1:5]).argmax(1))
        first = losses.detach() if first is None else first

        opt.zero_grad()
        opt_w.zero_grad()
        (model.weights.detach() * losses).sum().backward(retain_graph=True)

        last = model.shared[-1].weight
        norms = torch.stack([
            torch.autograd.grad(w * l, last, retain_graph=True, create_graph=True)[0].norm()
            for w, l in zip(model.weights, losses)])
        with torch.no_grad():
            ratio = losses / first
            goal = norms.mean() * (ratio / ratio.mean()) ** alpha
        balance = (norms - goal).abs().sum()
        model.weights.grad = torch.autograd.grad(balance, model.weights)[0]

        opt.step()
        opt_w.step()
        with torch.no_grad():
            model.weights.mul_(2 / model.weights.sum())
        if it % 3 == 0:
            print(it, losses.tolist(), model.weights.tolist())


if __name__ == "__main__":
    main()
