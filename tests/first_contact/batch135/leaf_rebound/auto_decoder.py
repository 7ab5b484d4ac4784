# expect: pattern = leaf-rebound
# expect: raises = TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'
# expect: carrier = codes, self.codes, code
"""Auto-decoder for 2-D signed distances (as in DeepSDF): one latent code for every shape."""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Options:
    latent: int = 4
    hidden: int = 32
    points: int = 64
    epochs: int = 40
    log_every: int = 10
    decoder_lr: float = 5e-3
    code_lr: float = 0.5
    code_penalty: float = 1e-4
    clamp: float = 0.5


class Decoder(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.first = nn.Linear(opt.latent + 2, opt.hidden)
        self.second = nn.Linear(opt.hidden + opt.latent, opt.hidden)
        self.out = nn.Linear(opt.hidden, 1)

    def forward(self, code, xy):
        code = code.expand(len(xy), -1)
        h = torch.tanh(self.first(torch.cat([xy, code], 1)))
        h = torch.tanh(self.second(torch.cat([h, code], 1)))
        return self.out(h).squeeze(1)


class CodeBook:
    """The latent codes, by the name of the shape. Plain gradient descent, without moments."""

    def __init__(self, names, opt):
        self.lr = opt.code_lr
        self.codes = {n: (0.1 * torch.randn(opt.latent)).requires_grad_() for n in names}

    def __getitem__(self, name):
        return self.codes[name]

    def update(self, name):
        code = self.codes[name]  # expect: place
        self.codes[name] = code - self.lr * code.grad  # expect: place


def circle(xy, radius):
    return xy.norm(dim=1) - radius


def box(xy, half):
    outside = (xy.abs() - half).clamp(min=0).norm(dim=1)
    return outside + (xy.abs() - half).amax(dim=1).clamp(max=0)


def make_shapes():
    return {
        "disc_small": lambda xy: circle(xy, 0.3),
        "disc_large": lambda xy: circle(xy, 0.7),
        "box": lambda xy: box(xy, torch.tensor([0.5, 0.25])),
        "ring": lambda xy: circle(xy, 0.5).abs() - 0.1,
    }


def samples(shapes, opt):
    """One batch of points for each shape, in shuffled order."""
    names = list(shapes)
    for index in torch.randperm(len(names)).tolist():
        xy = 2 * torch.rand(opt.points, 2) - 1
        yield {"shape": names[index], "xy": xy, "sdf": shapes[names[index]](xy)}


def sdf_loss(prediction, target, code, opt):
    data = F.l1_loss(prediction, target.clamp(-opt.clamp, opt.clamp))
    return data + opt.code_penalty * code.pow(2).sum()


def train(opt):
    shapes = make_shapes()
    decoder = Decoder(opt)
    book = CodeBook(shapes, opt)
    optimizer = torch.optim.Adam(decoder.parameters(), lr=opt.decoder_lr)
    for epoch in range(opt.epochs):
        log = {}
        for batch in samples(shapes, opt):
            code = book[batch["shape"]]
            loss = sdf_loss(decoder(code, batch["xy"]), batch["sdf"], code, opt)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            book.update(batch["shape"])  # expect: place
            log[batch["shape"]] = loss.item()
        if epoch % opt.log_every == 0:
            print(f"epoch {epoch}: " + "  ".join(f"{n} {v:.3f}" for n, v in sorted(log.items())))
    return decoder, book


if __name__ == "__main__":
    torch.manual_seed(0)
    train(Options())
