"""Run-off of a catchment: rain folded with a unit response whose shape is learnt, by plain gradient descent."""
import torch
import torch.nn.functional as F


class Catchment:
    """Two reservoirs, a quick and a slow one, and the share between them."""

    def __init__(self, hours=36):
        self.t = torch.arange(1, hours + 1, dtype=torch.float32)
        self.log_k = torch.tensor([0.5, 1.5], requires_grad=True)
        self.log_shape = torch.tensor([0.3, 0.1], requires_grad=True)
        self.mix = torch.zeros(2, requires_grad=True)
        self.loss_rate = torch.tensor(-2.0, requires_grad=True)

    def parameters(self):
        return [self.log_k, self.log_shape, self.mix, self.loss_rate]

    def unit_response(self):
        k, n = self.log_k.exp()[:, None], self.log_shape.exp()[:, None]
        gamma = (n - 1) * torch.log(self.t / k) - self.t / k
        single = F.softmax(gamma, dim=1)
        return (self.mix.softmax(0)[:, None] * single).sum(0)

    def runoff(self, rain, response):
        net_rain = F.softplus(rain - self.loss_rate.sigmoid(), beta=8)
        kernel = response.flip(0)[None, None]
        padded = F.pad(net_rain[:, None], (response.numel() - 1, 0))
        return F.conv1d(padded, kernel)[:, 0]


def downhill(params, rate, longest=1.0):
    """One step of gradient descent, not longer than `longest`; clears the gradients."""
    size = torch.sqrt(sum((p.grad ** 2).sum() for p in params))
    scale = rate * min(1.0, longest / (size.item() + 1e-9))
    for p in params:
        p.data -= scale * p.grad
        p.grad = None


def storms(count=48, hours=72):
    rain = torch.rand(count, hours).pow(6) * 6
    true = Catchment()
    with torch.no_grad():
        true.log_k.copy_(torch.tensor([1.0, 2.3]))
        true.mix.copy_(torch.tensor([0.8, -0.2]))
        flow = true.runoff(rain, true.unit_response())
    return rain, flow + 0.01 * torch.randn_like(flow)


def efficiency(model, rain, flow):
    with torch.no_grad():
        miss = (model.runoff(rain, model.unit_response()) - flow).pow(2).sum()
        return 1 - (miss / (flow - flow.mean()).pow(2).sum()).item()


def calibrate(model, rain, flow, epochs=6, size=12, rate=0.3):
    for epoch in range(epochs):
        response = model.unit_response()
        for rows in torch.randperm(len(rain)).split(size):
            simulated = model.runoff(rain[rows], response)
            loss = F.mse_loss(simulated, flow[rows]) / flow.var()
            loss.backward(retain_graph=True)
            downhill(model.parameters(), rate)
        print(f"epoch {epoch}  NSE {efficiency(model, rain, flow):.4f}")


if __name__ == "__main__":
    torch.manual_seed(12)
    rain, flow = storms()
    calibrate(Catchment(), rain, flow)
