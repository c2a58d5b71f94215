"""Secrets that the skill asked for and the operator granted."""
import os


def get(name):
    """Returns the value of a secret, or the placeholder that the proxy replaces."""
    file = os.path.join("/run/secrets", name)
    if "/" not in name and os.path.isfile(file):
        with open(file, encoding="utf-8") as f:
            return f.read()
    granted = os.environ.get("SATCHEL_SECRETS", "").split(",")
    if name not in granted or name not in os.environ:
        raise KeyError("secret %r is not granted to this run" % name)
    return os.environ[name]
