import torch
import torch.nn.functional as F

LAMBDA_L1 = 20.0


def adversarial(score, real):
    return F.mse_loss(score, torch.full_like(score, 1.0 if real else 0.0))


def both_losses(cleaner, critic, page, clean):
    """Everything of one batch, so that the log has all terms of the same weights."""
    fake = cleaner(page)
    d_real = adversarial(critic(page, clean), True)
    d_fake = adversarial(critic(page, fake.detach()), False)
    g_adv = adversarial(critic(page, fake), True)
    g_l1 = F.l1_loss(fake, clean)
    terms = {"d_real": d_real, "d_fake": d_fake, "g_adv": g_adv, "g_l1": g_l1}
    return 0.5 * (d_real + d_fake), g_adv + LAMBDA_L1 * g_l1, terms
