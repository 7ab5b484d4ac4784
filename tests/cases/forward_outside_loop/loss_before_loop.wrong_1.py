# Maximum likelihood for a Gaussian by plain tensors.
import torch

torch.manual_seed(0)
samples = torch.randn(200) * 1.5 + 3.0
mean = torch.tensor(0.0, requires_grad=True)
log_std = torch.tensor(0.0, requires_grad=True)


def negative_log_likelihood(data, mu, log_sigma):
    return (log_sigma + 0.5 * ((data - mu) / log_sigma.exp()) ** 2).mean()


nll = negative_log_likelihood(samples, mean, log_std)
lr = 0.1
for i in range(6):
    nll.backward(retain_graph=True)
    with torch.no_grad():
        mean -= lr * mean.grad
        log_std -= lr * log_std.grad
        mean.grad.zero_()
        log_std.grad.zero_()
