# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class Lipschitz:
    """Keeps every linear layer's spectral norm below a bound."""

    def __init__(self, model, bound):
        self.weights = [m.weight for m in model.modules() if isinstance(m, nn.Linear)]
        self.bound = bound

    @torch.no_grad()
    def __call__(self):
        for w in self.weights:
            w.div_(max(1.0, torch.linalg.matrix_norm(w, 2).item() / self.bound))


torch.manual_seed(5)
model = nn.Sequential(nn.Linear(6, 12), nn.ELU(), nn.Linear(12, 3))
nn.init.orthogonal_(model[0].weight)
model[2].bias.data.zero_()
clip = Lipschitz(model, bound=1.0)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(6):
    x = torch.randn(20, 6)
    loss = nn.functional.mse_loss(model(x), x[:, :3] ** 2)
    opt.zero_grad()
    loss.backward()
    opt.step()
    clip()
print("loss", loss.item())
