# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
import torch
from torch import nn, optim

torch.manual_seed(0)
maker = nn.Linear(3, 6)
judge = nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 1))
opt_judge = optim.Adam(judge.parameters())
opt_maker = optim.Adam(maker.parameters())
adversarial_loss = nn.BCEWithLogitsLoss()
seeds, real_maps = torch.randn(4, 3), torch.randn(4, 6)
yes, no = torch.ones(4, 1), torch.zeros(4, 1)
# paste: begin
opt_judge.zero_grad()
made = maker(seeds)
score_made = judge(made)
judge_loss = adversarial_loss(judge(real_maps), yes) + adversarial_loss(score_made, no)
judge_loss.backward(retain_graph=True)
opt_judge.step()  # expect: place

opt_maker.zero_grad()
maker_loss = adversarial_loss(score_made, yes)
maker_loss.backward()  # expect: place
opt_maker.step()
# paste: end
