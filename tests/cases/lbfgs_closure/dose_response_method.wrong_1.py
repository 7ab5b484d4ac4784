"""A four-parameter dose-response curve, fitted by an object that hands its method to L-BFGS."""
import torch


class DoseResponse:
    def __init__(self, doses, responses):
        self.doses, self.responses = doses, responses
        self.theta = torch.tensor([0.0, 1.0, 0.0, 0.5], requires_grad=True)
        self.lbfgs = torch.optim.LBFGS([self.theta], lr=0.3, max_iter=4)

    def curve(self):
        low, high, middle, slope = self.theta
        return low + (high - low) * torch.sigmoid(slope * (self.doses - middle))

    def misfit_and_slope(self):
        self.misfit.backward(retain_graph=True)
        return self.misfit

    def improve(self):
        self.lbfgs.zero_grad()
        self.misfit = (self.curve() - self.responses).pow(2).sum()
        self.lbfgs.step(self.misfit_and_slope)
        return self.misfit.item()


torch.manual_seed(8)
doses = torch.linspace(-3, 3, 25)
fit = DoseResponse(doses, 0.2 + 0.9 * torch.sigmoid(2.0 * (doses - 0.4)) + 0.02 * torch.randn(25))
for attempt in range(4):
    print(attempt, "%.5f" % fit.improve())
