# expect: pattern = growing-history
# expect: carrier = self.sum, self.val, self.avg, losses, top1, losses.sum, aux_losses
import time
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

from model import LeafNet
from utils.meters import AverageMeter, ProgressMeter
from utils.metrics import accuracy

ARGS = dict(epochs=3, batch_size=16, lr=0.05, momentum=0.9, wd=1e-4, aux=0.4, print_freq=4, seed=1)


def fake_leaves(n, classes=5):
    target = torch.randint(0, classes, (n,))
    images = torch.randn(n, 3, 12, 12) * 0.3
    images[:, 0] += target[:, None, None] / classes
    images[:, 1] -= (target[:, None, None] % 2).float()
    return images, target


def train(images, target, model, criterion, optimizer, epoch, args, run):
    batch_time = AverageMeter('Time', ':6.3f')
    top1 = AverageMeter('Acc@1', ':6.2f')
    progress = ProgressMeter(len(images) // args['batch_size'], [batch_time, run['main'], run['aux'], top1], prefix=f"Epoch: [{epoch}]")
    model.train()
    end = time.time()
    for i, idx in enumerate(torch.randperm(len(images)).split(args['batch_size'])):
        output, side = model(images[idx])
        loss = criterion(output, target[idx])
        aux_loss = criterion(side, target[idx])
        total = loss + args['aux'] * aux_loss

        acc1, = accuracy(output, target[idx], topk=(1,))
        run['main'].update(loss.item(), idx.numel())
        run['aux'].update(aux_loss, idx.numel())  # expect: place
        top1.update(acc1.item(), idx.numel())

        optimizer.zero_grad()
        total.backward()
        optimizer.step()

        batch_time.update(time.time() - end)
        end = time.time()
        if i % args['print_freq'] == 0:
            progress.display(i)


@torch.no_grad()
def validate(images, target, model):
    model.eval()
    output, _ = model(images)
    return accuracy(output, target, topk=(1,))[0].item()


def main(args):
    torch.manual_seed(args['seed'])
    warnings.filterwarnings('ignore')
    images, target = fake_leaves(160)
    v_images, v_target = fake_leaves(64)
    model = LeafNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), args['lr'], momentum=args['momentum'], weight_decay=args['wd'])
    # over the whole run, for the learning curve at the end
    run = {'main': AverageMeter('Loss', ':.4e'), 'aux': AverageMeter('Aux', ':.4e')}
    best = 0.
    for epoch in range(args['epochs']):
        train(images, target, model, criterion, optimizer, epoch, args, run)
        acc1 = validate(v_images, v_target, model)
        best = max(acc1, best)
        print(f' * Acc@1 {acc1:.2f} best {best:.2f}')


if __name__ == '__main__':
    main(ARGS)
