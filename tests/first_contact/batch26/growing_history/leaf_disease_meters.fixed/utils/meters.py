class AverageMeter(object):
    """Computes and stores the average and current value"""

    def __init__(self, name, fmt=':f'):
        self.name = name
        self.fmt = fmt
        self.reset()

    def reset(self):
        self.val = 0
        self.avg = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        fmtstr = '{name} {val' + self.fmt + '} ({avg' + self.fmt + '})'
        return fmtstr.format(name=self.name, val=float(self.val), avg=float(self.avg))


class ProgressMeter(object):
    def __init__(self, num_batches, meters, prefix=""):
        digits = len(str(num_batches))
        self.fmt = '[{:' + str(digits) + 'd}/' + str(num_batches) + ']'
        self.meters = meters
        self.prefix = prefix

    def display(self, batch):
        print('\t'.join([self.prefix + self.fmt.format(batch)] + [str(m) for m in self.meters]))
