def ToTensor():
    pass
