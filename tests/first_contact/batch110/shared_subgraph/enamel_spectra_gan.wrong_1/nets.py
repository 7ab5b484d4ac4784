from torch import nn


def painter(noise, bands):
    return nn.Sequential(nn.Linear(noise, 32), nn.BatchNorm1d(32), nn.ReLU(),
                         nn.Linear(32, bands), nn.Sigmoid())


def critic(bands):
    return nn.Sequential(nn.Linear(bands, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
