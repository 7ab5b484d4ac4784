# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = seen, loss, objectives, mast, self.mast
import torch

from agree import walk_agreed
from plume import Plume


def day_at_the_quarry(size):
    wind = torch.randn(size, 10)
    lifted = wind[:, :3].pow(2).sum(1)
    return wind, {"fine": lifted * 0.3, "coarse": lifted * 0.1 - wind[:, 4], "fall": wind[:, 5] * wind[:, 6]}


torch.manual_seed(30)
model = Plume()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
for day in range(5):
    wind, dust = day_at_the_quarry(40)
    opt.zero_grad()
    walk_agreed(model, model.objectives(wind, dust))  # expect: place
    opt.step()
with torch.no_grad():
    wind, dust = day_at_the_quarry(100)
    print({name: round(loss.item(), 3) for name, loss in model.objectives(wind, dust)})
