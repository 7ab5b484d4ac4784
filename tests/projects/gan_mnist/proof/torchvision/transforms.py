def Compose(*x):
    return None


Resize = ToTensor = Compose


def Normalize(a, b):
    return None
