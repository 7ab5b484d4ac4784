# Dog re-identification by the nose print. Backbone + additive angular margin, both in one optimizer.
# The weight of the margin head runs wild (see |W|), a smaller lr only makes it later
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter


class ArcMarginProduct(nn.Module):
    def __init__(self, in_features, out_features, s=10.0, m=0.20):
        super(ArcMarginProduct, self).__init__()
        self.s = s
        self.m = m
        self.weight = Parameter(torch.FloatTensor(out_features, in_features))
        nn.init.xavier_uniform_(self.weight)
        self.cos_m = math.cos(m)
        self.sin_m = math.sin(m)
        self.th = math.cos(math.pi - m)
        self.mm = math.sin(math.pi - m) * m

    def forward(self, input, label):
        cosine = F.linear(F.normalize(input), F.normalize(self.weight))
        sine = torch.sqrt((1.0 - torch.pow(cosine, 2)).clamp(1e-6, 1))
        phi = cosine * self.cos_m - sine * self.sin_m
        phi = torch.where(cosine > self.th, phi, cosine - self.mm)
        one_hot = torch.zeros(cosine.size())
        one_hot.scatter_(1, label.view(-1, 1).long(), 1)
        return ((one_hot * phi) + ((1.0 - one_hot) * cosine)) * self.s


class NoseNet(nn.Module):
    def __init__(self, dim=16):
        super(NoseNet, self).__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.PReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, padding=1), nn.PReLU(), nn.MaxPool2d(2),
        )
        self.fc = nn.Linear(8 * 3 * 3, dim)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


class Config(object):
    num_classes = 6
    train_batch_size = 24
    max_epoch = 6
    batches = 8
    lr = 0.01
    momentum = 0.9
    weight_decay = 5e-4


def main():
    torch.manual_seed(0)
    opt = Config()
    prints = torch.randn(opt.num_classes, 1, 12, 12)
    model = NoseNet()
    metric_fc = ArcMarginProduct(16, opt.num_classes)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD([{'params': model.parameters()}, {'params': metric_fc.parameters()}],
                                lr=opt.lr, momentum=opt.momentum, weight_decay=opt.weight_decay)

    for i in range(opt.max_epoch):
        model.train()
        for ii in range(opt.batches):
            label = torch.randint(opt.num_classes, (opt.train_batch_size,))
            data_input = prints[label] + 0.3 * torch.randn(opt.train_batch_size, 1, 12, 12)
            feature = model(data_input)
            output = metric_fc(feature, label)
            loss = criterion(output, label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        acc = (output.argmax(1) == label).float().mean()
        print('epoch {} loss {:.4f} acc {:.2f} |W| {:.2f}'.format(i, loss.item(), acc.item(), metric_fc.weight.norm().item()))


if __name__ == '__main__':
    main()
