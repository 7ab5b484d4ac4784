# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = flow_dist, flow, base, scale, transform, transforms
# Density estimation on the unit square with torch.distributions.
import torch
from torch.distributions import Independent, Normal, TransformedDistribution
from torch.distributions.transforms import AffineTransform, SigmoidTransform

torch.manual_seed(17)
log_scale = torch.zeros(2, requires_grad=True)
shift = torch.zeros(2, requires_grad=True)
samples = torch.rand(60, 2).pow(2).clamp(0.01, 0.99)

base = Independent(Normal(torch.zeros(2), torch.ones(2)), 1)
transforms = [AffineTransform(shift, log_scale.exp()), SigmoidTransform()]  # expect: place
flow = TransformedDistribution(base, transforms)

optimizer = torch.optim.Adam([log_scale, shift], lr=0.1)
for epoch in range(4):
    for batch in samples.split(30):
        optimizer.zero_grad()
        nll = -flow.log_prob(batch).mean()  # expect: place
        nll.backward()  # expect: place
        optimizer.step()
    print(epoch, nll.item())
