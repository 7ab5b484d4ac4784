def critic_objective(on_real, on_fake):
    total = 0.0
    for (real, _), (fake, _) in zip(on_real, on_fake):
        total = total + ((1 - real) ** 2).mean() + (fake**2).mean()
    return total


def fooling_objective(on_fake):
    return sum(((1 - score) ** 2).mean() for score, _ in on_fake)


def matching_objective(on_real, on_fake):
    total = 0.0
    for (_, real_maps), (_, fake_maps) in zip(on_real, on_fake):
        for r, f in zip(real_maps, fake_maps):
            total = total + (r.detach() - f).abs().mean()
    return 2.0 * total


def spectral_objective(wav, fake, window):
    def mag(x):
        return x.squeeze(1).stft(64, 16, window=window, return_complex=True).abs().clamp_min(1e-5).log()

    return (mag(wav) - mag(fake)).abs().mean()
