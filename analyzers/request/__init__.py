"""Analyze one request: separate script from traceback, bind the traceback to files, find causes."""
