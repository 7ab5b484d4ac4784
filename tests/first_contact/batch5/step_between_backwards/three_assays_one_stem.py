# expect: pattern = step-between-backwards
# expect: also = shared-subgraph
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = stem, features, h, opt_stem
"""Three assays read from one molecular stem. Stem and heads have optimizers of their own."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ASSAYS = {"solubility": 1.0, "toxicity": 0.5, "binding": 0.25}


def molecules(n):
	counts = torch.randint(0, 4, (n, 9)).float()
	y = {
		"solubility": counts[:, :3].sum(1) - counts[:, 3:5].sum(1),
		"toxicity": (counts[:, 5] * counts[:, 6]) / 3,
		"binding": counts[:, 7:].prod(1),
	}
	return counts, y


torch.manual_seed(42)
stem = nn.Sequential(nn.Linear(9, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU())
heads = nn.ModuleDict({a: nn.Linear(24, 1) for a in ASSAYS})
opt_stem = torch.optim.Adam(stem.parameters(), lr=1e-3)
opt_heads = {a: torch.optim.Adam(h.parameters(), lr=3e-3) for a, h in heads.items()}

for it in range(8):
	x, targets = molecules(20)
	h = stem(x)
	opt_stem.zero_grad()
	for assay, weight in ASSAYS.items():
		opt_heads[assay].zero_grad()
		loss = weight * F.mse_loss(heads[assay](h).squeeze(1), targets[assay])
		loss.backward(retain_graph=True)  # expect: place
		opt_heads[assay].step()
		opt_stem.step()  # expect: place
	if it % 4 == 3:
		print(it, assay, round(loss.item(), 3))
