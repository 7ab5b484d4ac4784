# expect: pattern = step-between-backwards
# expect: also = shared-subgraph
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = features, sex_loss
import argparse
import torch
from torch import nn, optim

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=5)
parser.add_argument("--lr", type=float, default=0.05)
args = parser.parse_args([])

torch.manual_seed(7)
encoder = nn.Sequential(nn.Linear(12, 20), nn.Tanh(), nn.Linear(20, 16), nn.Tanh())
age_head = nn.Linear(16, 1)
sex_head = nn.Linear(16, 2)

opt_age = optim.SGD([*encoder.parameters(), *age_head.parameters()], lr=args.lr)
opt_sex = optim.SGD(sex_head.parameters(), lr=args.lr)

x = torch.randn(40, 12)
age = x[:, :1] * 3 + 40
sex = (x[:, 1] > 0).long()

for step in range(args.steps):
    features = encoder(x)  # expect: place
    age_loss = ((age_head(features) - age / 40) ** 2).mean()
    sex_loss = nn.functional.cross_entropy(sex_head(features), sex)

    opt_age.zero_grad()
    age_loss.backward(retain_graph=True)
    opt_age.step()  # expect: place

    opt_sex.zero_grad()
    sex_loss.backward()  # expect: place
    opt_sex.step()
    print(step, round(age_loss.item(), 4), round(sex_loss.item(), 4))
