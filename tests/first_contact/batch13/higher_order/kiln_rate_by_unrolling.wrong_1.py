"""Learns the learning rate of the regression inside a kiln controller by differentiating through its last updates."""
import torch


def readings(n, w):
    x = torch.randn(n, w.shape[0])
    return x, x @ w + 0.1 * torch.randn(n, 1)


def inner_steps(w, log_rate, true_w, horizon):
    """Runs the controller's own SGD for ever; hands out the weights every `horizon` updates."""
    while True:
        for _ in range(horizon):
            x, y = readings(16, true_w)
            loss = (x @ w - y).square().mean()
            (g,) = torch.autograd.grad(loss, w, create_graph=False)
            w = (w - log_rate.exp().detach() * g).detach().requires_grad_()
        yield w


torch.manual_seed(51)
true_w = torch.randn(5, 1)
w0 = torch.zeros(5, 1, requires_grad=True)
log_rate = torch.tensor(-4.0, requires_grad=True)
outer = torch.optim.Adam([log_rate], lr=0.3)

for window, w in enumerate(inner_steps(w0, log_rate, true_w, horizon=4)):
    x_val, y_val = readings(64, true_w)
    val_loss = (x_val @ w - y_val).square().mean()
    outer.zero_grad()
    val_loss.backward()
    outer.step()
    print(window, round(val_loss.item(), 4), round(log_rate.exp().item(), 4))
    if window == 7:
        break
