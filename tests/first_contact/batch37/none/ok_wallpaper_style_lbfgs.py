# expect: pattern = none
"""Make a wallpaper in the style of a given texture (2017 tutorial layout: losses are layers with their own backward)."""
import torch
import torch.nn as nn
import torch.optim as optim


class GramMatrix(nn.Module):
    def forward(self, input):
        a, b, c, d = input.size()
        features = input.view(a * b, c * d)
        return torch.mm(features, features.t()).div(a * b * c * d)


class LossLayer(nn.Module):
    def __init__(self, target, weight, transform=None):
        super(LossLayer, self).__init__()
        self.target = target.detach() * weight
        self.weight = weight
        self.transform = transform or nn.Identity()
        self.criterion = nn.MSELoss()

    def forward(self, input):
        self.output = input.clone()
        self.loss = self.criterion(self.transform(input) * self.weight, self.target)
        return self.output

    def backward(self, retain_graph=True):
        self.loss.backward(retain_graph=retain_graph)
        return self.loss.detach()


def get_style_model_and_losses(cnn, style_img, content_img, style_weight=300.0, content_weight=1.0):
    model = nn.Sequential()
    losses = []
    gram = GramMatrix()
    for i, layer in enumerate(cnn):
        model.add_module("l%d" % i, layer)
        if isinstance(layer, nn.Conv2d):
            style = LossLayer(gram(model(style_img)), style_weight, gram)
            model.add_module("style%d" % i, style)
            losses.append(style)
            if i == 2:
                content = LossLayer(model(content_img), content_weight)
                model.add_module("content%d" % i, content)
                losses.append(content)
    return model, losses


torch.manual_seed(25)
cnn = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU())
stripes = torch.sin(torch.arange(16).float()).view(1, 1, 1, 16).expand(1, 3, 16, 16) * 0.5 + 0.5
content_img = torch.rand(1, 3, 16, 16)
model, losses = get_style_model_and_losses(cnn, stripes.contiguous(), content_img)
for p in model.parameters():
    p.requires_grad_(False)

input_param = nn.Parameter(content_img.clone())
optimizer = optim.LBFGS([input_param], max_iter=5)
run = [0]
while run[0] <= 15:

    def closure():
        input_param.data.clamp_(0, 1)
        optimizer.zero_grad()
        model(input_param)
        score = 0
        for layer in losses:
            score += layer.backward()
        run[0] += 1
        if run[0] % 5 == 0:
            print("run %d: %.4f" % (run[0], score.item()))
        return score

    optimizer.step(closure)
input_param.data.clamp_(0, 1)
