# expect: pattern = lbfgs-closure
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = model, residual, y_fit
# Ajuste de picos Raman (pseudo-Voigt) con L-BFGS, un espectro a la vez
import numpy as np
import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

nu = torch.linspace(1200, 1700, 251)


def pseudo_voigt(nu, centre, width, eta, area):
    d = (nu - centre) / width
    lorentz = 1 / (np.pi * width * (1 + d ** 2))
    gauss = torch.exp(-d ** 2 * np.log(2)) * np.sqrt(np.log(2) / np.pi) / width
    return area * (eta * lorentz + (1 - eta) * gauss)


def spectrum(p):
    y = p['offset'] + p['slope'] * (nu - 1450) / 250
    for k in range(2):
        y = y + pseudo_voigt(nu, p['centre'][k], p['width'][k].exp(), torch.sigmoid(p['eta'][k]), p['area'][k].exp())
    return y


def start():
    p = {
        'centre': torch.tensor([1340., 1590.]),
        'width': torch.tensor([3.2, 3.0]),
        'eta': torch.zeros(2),
        'area': torch.tensor([5.0, 5.0]),
        'offset': torch.tensor(0.5),
        'slope': torch.tensor(0.0),
    }
    for v in p.values():
        v.requires_grad_(True)
    return p


truth = {k: v.detach().clone() for k, v in start().items()}
truth['centre'] += torch.tensor([12., -9.])
truth['area'] += torch.tensor([0.4, 0.7])
truth['slope'] += 0.3

for n in range(3):
    measured = spectrum(truth) + 0.02 * torch.randn_like(nu)
    p = start()
    opt = torch.optim.LBFGS(list(p.values()), lr=0.5, max_iter=15, line_search_fn='strong_wolfe')
    for outer in range(3):
        y_fit = spectrum(p)  # expect: place
        residual = (y_fit - measured) / 0.02  # expect: place

        def closure():
            opt.zero_grad()
            chi2 = (residual ** 2).mean()  # expect: place
            chi2.backward()  # expect: place
            return chi2

        chi2 = opt.step(closure)
    print('espectro', n, 'chi2 %.3f' % chi2.item(), 'centros', p['centre'].detach().numpy().round(1))
