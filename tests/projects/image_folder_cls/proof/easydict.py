from types import SimpleNamespace as EasyDict
