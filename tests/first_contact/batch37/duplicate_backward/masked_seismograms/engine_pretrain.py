import math
import sys

import misc


def train_one_epoch(model, batches, optimizer, epoch, loss_scaler, args):
    model.train()
    meter = misc.SmoothedValue()
    optimizer.zero_grad()
    for step, samples in enumerate(batches):
        if step % args.accum_iter == 0:
            misc.adjust_learning_rate(optimizer, step / args.steps + epoch, args.lr, args.warmup, args.epochs)

        loss = model(samples)
        loss_value = loss.item()
        if not math.isfinite(loss_value):
            print("Loss is {}, stopping training".format(loss_value))
            sys.exit(1)

        loss = loss / args.accum_iter
        loss.backward()  # expect: place
        update = (step + 1) % args.accum_iter == 0
        loss_scaler(loss, optimizer, parameters=model.parameters(), clip_grad=1.0, update_grad=update)  # expect: place
        if update:
            optimizer.zero_grad()
        meter.update(loss_value)
    return meter.avg
