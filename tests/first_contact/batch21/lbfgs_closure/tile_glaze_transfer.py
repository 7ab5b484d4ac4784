# expect: pattern = lbfgs-closure
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = style_score, content_score, loss, sl.loss, cl.loss
# Glaze of an old tile on the drawing of a new one. Gatys et al. with loss layers put into the net.
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(1)
IMSIZE = 24


class ContentLoss(nn.Module):
    def __init__(self, target):
        super(ContentLoss, self).__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    return torch.mm(features, features.t()).div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super(StyleLoss, self).__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        self.loss = F.mse_loss(gram_matrix(input), self.target)
        return input


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super(Normalization, self).__init__()
        self.mean = torch.tensor(mean).view(-1, 1, 1)
        self.std = torch.tensor(std).view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std


def make_cnn():
    chans, layers = [3, 8, 8, 16], []
    for cin, cout in zip(chans, chans[1:]):
        layers += [nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2)]
    return nn.Sequential(*layers).requires_grad_(False).eval()


def get_model_and_losses(cnn, style_img, content_img, content_layers=('conv_2',), style_layers=('conv_1', 'conv_2', 'conv_3')):
    model = nn.Sequential(Normalization([.5, .5, .5], [.25, .25, .25]))
    content_losses, style_losses = [], []
    i = 0
    for layer in cnn.children():
        if isinstance(layer, nn.Conv2d):
            i += 1
            name = 'conv_{}'.format(i)
        else:
            name = '{}_{}'.format(layer.__class__.__name__.lower(), i)
        model.add_module(name, layer)
        if name in content_layers:
            content_losses.append(ContentLoss(model(content_img)))
            model.add_module('content_loss_{}'.format(i), content_losses[-1])
        if name in style_layers:
            style_losses.append(StyleLoss(model(style_img)))
            model.add_module('style_loss_{}'.format(i), style_losses[-1])
    return model, style_losses, content_losses


def run_style_transfer(cnn, content_img, style_img, input_img, num_steps=4, style_weight=1e4, content_weight=1):
    model, style_losses, content_losses = get_model_and_losses(cnn, style_img, content_img)
    input_img.requires_grad_(True)
    optimizer = optim.LBFGS([input_img], lr=0.5, max_iter=5)

    for run in range(num_steps):
        with torch.no_grad():
            input_img.clamp_(0, 1)
        model(input_img)  # expect: place

        def closure():
            optimizer.zero_grad()
            style_score = sum(sl.loss for sl in style_losses)  # expect: place
            content_score = sum(cl.loss for cl in content_losses)  # expect: place
            loss = style_weight * style_score + content_weight * content_score
            loss.backward()  # expect: place
            return loss

        loss = optimizer.step(closure)  # expect: place
        print('run {}: loss {:.4f}'.format(run, loss.item()))

    with torch.no_grad():
        input_img.clamp_(0, 1)
    return input_img


grid = torch.linspace(0, 12, IMSIZE)
tile = torch.stack([grid.sin().ger(grid.cos()), grid.cos().ger(grid.cos()), grid.sin().ger(grid.sin())])[None] * .5 + .5
drawing = torch.zeros(1, 3, IMSIZE, IMSIZE)
drawing[:, :, 6:18, 6:18] = .8
output = run_style_transfer(make_cnn(), drawing, tile, drawing.clone() + 0.05 * torch.rand_like(drawing))
print('mean colour', [round(c, 3) for c in output.mean((0, 2, 3)).tolist()])
