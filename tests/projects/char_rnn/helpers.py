import math
import time

import unidecode


def read_file(filename):
    file = unidecode.unidecode(open(filename).read())
    return file, len(file)


def time_since(since):
    s = time.time() - since
    m = math.floor(s / 60)
    return "%dm %ds" % (m, s - m * 60)
