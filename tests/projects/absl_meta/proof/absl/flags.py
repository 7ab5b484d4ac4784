class FLAGS:
    ways, inner_lr, dataset_dir = 3, 0.1, "x"


def DEFINE_integer(*args):
    pass


DEFINE_float = DEFINE_string = mark_flag_as_required = DEFINE_integer
