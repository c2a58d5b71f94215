"""Blobs: those that the call named, and those that this run makes."""
import base64
import json
import os
import tempfile

from . import _call

_PART = 1 << 20


def list():
    """Returns the blobs that can be read: id, kind and size_bytes of each."""
    return _call("blobs.list", {})["blobs"]


def path(blob_id):
    """Returns the path of a file with the content."""
    file = os.path.join(os.environ["BLOBS_DIR"], blob_id)
    if "/" not in blob_id and os.path.isfile(file):
        return file
    fd, file = tempfile.mkstemp(dir=os.environ["TMPDIR"])
    with os.fdopen(fd, "wb") as f:
        f.write(read_bytes(blob_id))
    return file


def read_bytes(blob_id):
    file = os.path.join(os.environ["BLOBS_DIR"], blob_id)
    if "/" not in blob_id and os.path.isfile(file):
        with open(file, "rb") as f:
            return f.read()
    parts, offset = [], 0
    while True:
        got = _call("blobs.read", {"blob_id": blob_id, "offset": offset, "length": _PART})
        part = base64.b64decode(got["content"])
        parts.append(part)
        offset += len(part)
        if not part or offset >= got["size_bytes"]:
            return b"".join(parts)


def read_text(blob_id):
    return read_bytes(blob_id).decode("utf-8")


def read_json(blob_id):
    return json.loads(read_text(blob_id))


def write_text(content, kind="text/plain"):
    if len(content) > _PART:
        return write_bytes(content.encode("utf-8"), kind)
    return _call("blobs.create", {"content": content, "kind": kind})["blob_id"]


def write_bytes(content, kind="application/octet-stream"):
    if len(content) <= _PART:
        text = base64.b64encode(content).decode("ascii")
        return _call("blobs.create", {"content": text, "encoding": "base64", "kind": kind})["blob_id"]
    fd, file = tempfile.mkstemp(dir=os.environ["TMPDIR"])
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(content)
        return write_file(file, kind)
    finally:
        os.unlink(file)


def write_json(obj, kind="application/json"):
    return write_text(json.dumps(obj, allow_nan=False, ensure_ascii=False), kind)


def write_file(path, kind=""):
    """Stores a regular file of the workspace."""
    file = os.path.relpath(os.path.realpath(path), os.path.realpath(os.environ["WORKSPACE_DIR"]))
    return _call("blobs.create", {"path": file, "kind": kind})["blob_id"]
