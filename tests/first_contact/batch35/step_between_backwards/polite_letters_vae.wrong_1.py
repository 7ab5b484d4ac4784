"""VAE over token sequences with a controllable attribute (polite / blunt). Encoder and generator have their own
optimizers, the attribute loss is for the generator. Ran for years on 0.3, breaks on the new cluster."""
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, LENGTH, Z, C = 24, 8, 10, 2


class Encoder(nn.Module):
    def __init__(self, hidden=32):
        super(Encoder, self).__init__()
        self.emb = nn.Embedding(VOCAB, 16)
        self.rnn = nn.GRU(16, hidden, batch_first=True)
        self.mid = nn.Linear(hidden, hidden)
        self.mu, self.logvar = nn.Linear(hidden, Z), nn.Linear(hidden, Z)

    def forward(self, x):
        _, h = self.rnn(self.emb(x))
        h = torch.tanh(self.mid(h[-1]))
        return self.mu(h), self.logvar(h)


class Generator(nn.Module):
    def __init__(self, hidden=32):
        super(Generator, self).__init__()
        self.start = nn.Linear(Z + C, hidden)
        self.rnn = nn.GRU(Z + C, hidden, batch_first=True)
        self.out = nn.Linear(hidden, VOCAB)

    def forward(self, z, c):
        zc = torch.cat([z, c], 1)
        h0 = torch.tanh(self.start(zc)).unsqueeze(0)
        o, _ = self.rnn(zc.unsqueeze(1).repeat(1, LENGTH, 1), h0)
        return self.out(o)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.emb = nn.Linear(VOCAB, 16, bias=False)
        self.conv = nn.Conv1d(16, 16, 3)
        self.out = nn.Linear(16, C)

    def forward(self, onehot):
        h = F.relu(self.conv(self.emb(onehot).transpose(1, 2)))
        return self.out(h.max(dim=2)[0])


def letters(n):
    c = torch.randint(0, C, (n,))
    x = torch.randint(0, VOCAB, (n, LENGTH))
    x[torch.arange(n), torch.randint(0, LENGTH, (n,))] = c      # word 0 or word 1 gives it away
    return x, c


def reparameterise(mu, logvar):
    return mu + torch.randn_like(mu) * (logvar / 2).exp()


def train_discriminator(D, opt_D, iters):
    for _ in range(iters):
        x, c = letters(32)
        loss = F.cross_entropy(D(F.one_hot(x, VOCAB).float()), c)
        opt_D.zero_grad()
        loss.backward()
        opt_D.step()
    return loss.item()


def train_vae_with_attr_loss(E, G, D, opt_E, opt_G, iters, lambda_c=0.1, beta=0.2, temperature=0.7):
    for p in D.parameters():
        p.requires_grad = False
    for it in range(iters):
        x, c = letters(32)
        code = F.one_hot(c, C).float()

        mu, logvar = E(x)
        z = reparameterise(mu, logvar)
        logits = G(z, code)
        recon = F.cross_entropy(logits.reshape(-1, VOCAB), x.reshape(-1))
        kl = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())

        vae_loss = recon + beta * kl
        opt_E.zero_grad()
        vae_loss.backward(retain_graph=True)

        attr = F.cross_entropy(D(F.softmax(logits / temperature, dim=-1)), c)
        g_loss = recon + lambda_c * attr
        opt_G.zero_grad()
        g_loss.backward()
        opt_E.step()
        opt_G.step()

        if it % 5 == 0:
            print("it %d recon %.3f kl %.3f attr %.3f" % (it, recon.item(), kl.item(), attr.item()))


torch.manual_seed(2017)
E, G, D = Encoder(), Generator(), Discriminator()
opt_E = torch.optim.Adam(E.parameters(), lr=1e-3)
opt_G = torch.optim.Adam(G.parameters(), lr=1e-3)
opt_D = torch.optim.Adam(D.parameters(), lr=1e-3)
print("discriminator", train_discriminator(D, opt_D, 20))
train_vae_with_attr_loss(E, G, D, opt_E, opt_G, 15)
