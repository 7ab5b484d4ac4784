from . import app, flags, logging
