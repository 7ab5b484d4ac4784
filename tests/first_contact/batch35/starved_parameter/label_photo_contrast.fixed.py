"""Herbarium sheets: photo and label text into one space (contrastive), features tapped from a vision transformer.

The text side moves, retrieval never gets much over chance.
"""
import torch
from torch import nn, einsum
import torch.nn.functional as F


def exists(val):
    return val is not None


class Extractor(nn.Module):
    """Wraps a vision model and gives what one of its layers put out, not its logits."""

    def __init__(self, vit, layer_name="transformer"):
        super().__init__()
        self.vit = vit
        self.layer_name = layer_name
        self.latents = None
        self.hook_registered = False

    def _hook(self, _, inputs, output):
        self.latents = output.clone()

    def _register_hook(self):
        assert hasattr(self.vit, self.layer_name), "layer whose output to take as embedding not found"
        getattr(self.vit, self.layer_name).register_forward_hook(self._hook)
        self.hook_registered = True

    def forward(self, img):
        if not self.hook_registered:
            self._register_hook()
        self.vit(img)
        assert exists(self.latents)
        latents, self.latents = self.latents, None
        return latents


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(dim, dim * 2), nn.GELU(), nn.Linear(dim * 2, dim))

    def forward(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.ff(self.n2(x))


class ViT(nn.Module):
    def __init__(self, *, size=16, patch=4, dim=32, depth=2, classes=10):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, patch, stride=patch)
        self.pos = nn.Parameter(torch.randn(1, (size // patch) ** 2, dim) * 0.02)
        self.transformer = nn.Sequential(*[Block(dim, 4) for _ in range(depth)])
        self.mlp_head = nn.Linear(dim, classes)

    def forward(self, img):
        x = self.patch(img).flatten(2).transpose(1, 2) + self.pos
        return self.mlp_head(self.transformer(x).mean(1))


class TwoTower(nn.Module):
    def __init__(self, dim=32, num_tokens=50, img_encoder=None):
        super().__init__()
        self.img_encoder = img_encoder
        self.token_emb = nn.Embedding(num_tokens, dim)
        self.text = Block(dim, 4)
        self.img_query = nn.Parameter(torch.randn(1, dim))
        self.to_img, self.to_text = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.temperature = nn.Parameter(torch.tensor(1.0))

    def embed_image(self, images):
        tokens = self.img_encoder(images)
        weight = einsum("b n d, q d -> b n q", tokens, self.img_query).softmax(dim=1)
        return self.to_img((weight * tokens).sum(1))

    def forward(self, text, images):
        t = self.to_text(self.text(self.token_emb(text)).mean(1))
        i = self.embed_image(images)
        sim = einsum("i d, j d -> i j", F.normalize(t, dim=-1), F.normalize(i, dim=-1)) * self.temperature.exp()
        labels = torch.arange(len(sim))
        return (F.cross_entropy(sim, labels) + F.cross_entropy(sim.t(), labels)) / 2


torch.manual_seed(7)
palette = torch.rand(50, 3)
model = TwoTower(img_encoder=Extractor(ViT()))
optim = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.)

for step in range(15):
    text = torch.randint(0, 50, (16, 5))
    images = palette[text].mean(1)[:, :, None, None] + 0.1 * torch.randn(16, 3, 16, 16)
    loss = model(text, images)
    optim.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optim.step()
    if step % 5 == 0:
        print(step, round(loss.item(), 4))
