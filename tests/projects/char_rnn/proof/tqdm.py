def tqdm(x):
    return x
