def get_next_parameter():
    return {}


def report_intermediate_result(value):
    pass
