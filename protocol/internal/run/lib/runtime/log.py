"""Lines for the log of the run."""
import sys


def _write(level, message):
    sys.stderr.write("%s: %s\n" % (level, message))
    sys.stderr.flush()


def debug(message):
    _write("debug", message)


def info(message):
    _write("info", message)


def warning(message):
    _write("warning", message)


def error(message):
    _write("error", message)
