def configure(*args):
    pass


log_value = configure
