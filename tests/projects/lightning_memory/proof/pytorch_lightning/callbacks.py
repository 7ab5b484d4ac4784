def ModelCheckpoint():
    pass
