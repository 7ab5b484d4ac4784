# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = h, fake, gen_imgs
import itertools
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
latent, codes = 6, 2


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent + codes, 16), nn.LeakyReLU(0.2), nn.Linear(16, 4))

    def forward(self, z, c):
        return self.net(torch.cat([z, c], dim=1))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2))
        self.adv = nn.Linear(16, 1)
        self.aux = nn.Linear(16, codes)

    def forward(self, x):
        h = self.body(x)
        return self.adv(h), self.aux(h)


G, D = Generator(), Discriminator()
optimizer_G = torch.optim.SGD(G.parameters(), lr=1e-2)
optimizer_info = torch.optim.SGD(itertools.chain(G.parameters(), D.parameters()), lr=5e-3)

for i in range(3):
    z, c = torch.randn(8, latent), torch.rand(8, codes) * 2 - 1
    fake = G(z, c)  # expect: place
    validity, code_pred = D(fake)  # expect: place

    optimizer_G.zero_grad()
    optimizer_info.zero_grad()
    g_loss = F.binary_cross_entropy_with_logits(validity, torch.ones(8, 1))
    info_loss = F.mse_loss(code_pred, c)
    g_loss.backward()
    info_loss.backward()  # expect: place
    optimizer_G.step()
    optimizer_info.step()
