"""Neural style transfer in small: a fixed random conv net, LBFGS on the pixels."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
SIZE = 20


def gram(x):
    b, c, h, w = x.shape
    f = x.view(b * c, h * w)
    return f @ f.t() / (b * c * h * w)


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, x):
        self.loss = F.mse_loss(x, self.target)
        return x


class StyleLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = gram(target)

    def forward(self, x):
        self.loss = F.mse_loss(gram(x), self.target)
        return x


def build(cnn, content, style):
    model, content_losses, style_losses = nn.Sequential(), [], []
    for i, layer in enumerate(cnn):
        model.add_module(f"layer_{i}", layer)
        if isinstance(layer, nn.Conv2d):
            style_loss = StyleLoss(model(style))
            model.add_module(f"style_{i}", style_loss)
            style_losses.append(style_loss)
    content_loss = ContentLoss(model(content))
    model.add_module("content", content_loss)
    content_losses.append(content_loss)
    return model, content_losses, style_losses


ramp = torch.linspace(0, 1, SIZE)
content = torch.stack([ramp.repeat(SIZE, 1), ramp.repeat(SIZE, 1).t(), torch.full((SIZE, SIZE), 0.5)]).unsqueeze(0)
style = (torch.sin(12 * ramp).repeat(SIZE, 1) * 0.5 + 0.5).expand(1, 3, SIZE, SIZE)

cnn = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.Tanh(), nn.Conv2d(8, 12, 3, padding=1), nn.Tanh())
cnn.requires_grad_(False)
for conv in (cnn[0], cnn[2]):
    conv.weight.mul_(2.0)
model, content_losses, style_losses = build(cnn, content, style)

image = (content + 0.1 * torch.randn_like(content)).requires_grad_(True)
optimizer = torch.optim.LBFGS([image], max_iter=10, history_size=10)
run = [0]
while run[0] < 40:

    def closure():
        with torch.no_grad():
            image.clamp_(0, 1)
        optimizer.zero_grad()
        model(image)
        style_score = sum(s.loss for s in style_losses)
        content_score = sum(c.loss for c in content_losses)
        loss = 1e5 * style_score + content_score
        loss.backward()
        run[0] += 1
        if run[0] % 10 == 0:
            print(f"run {run[0]}: style {1e5 * style_score.item():.4f} content {content_score.item():.4f}")
        return loss

    optimizer.step(closure)

with torch.no_grad():
    image.clamp_(0, 1)
print("mean colour", image.mean(dim=(0, 2, 3)).tolist())
