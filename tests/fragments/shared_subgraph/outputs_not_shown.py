# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
import torch
from torch import nn, optim
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 4))
species, ages = torch.randint(0, 2, (6,)), torch.rand(6, 2)
species_scores, age_guess = net(torch.randn(6, 5)).exp().chunk(2, dim=1)
# paste: begin
species_loss = F.cross_entropy(species_scores, species)
age_loss = F.mse_loss(age_guess, ages)
species_loss.backward()  # expect: place
age_loss.backward()  # expect: place
# paste: end
