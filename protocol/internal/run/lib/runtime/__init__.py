"""What a run can ask of the server: blobs, log, secrets, summary and progress."""
import json
import os
import threading

_owner = os.getpid()
_lock = threading.Lock()
_last = 0
os.set_inheritable(3, False)
os.set_inheritable(4, False)
_answers = os.fdopen(3, "rb")
_calls = os.fdopen(4, "wb", 0)
_encode = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps makes one each time
_decode = json.JSONDecoder().decode


def _call(method, params):
    global _last
    if os.getpid() != _owner:
        raise RuntimeError("runtime: only the process that Satchel started may call")
    with _lock:
        _last += 1
        message = {"jsonrpc": "2.0", "id": _last, "method": method, "params": params}
        text = (_encode(message) + "\n").encode("utf-8", "surrogatepass")
        written = _calls.write(text)
        while written < len(text):
            written += _calls.write(memoryview(text)[written:])
        line = _answers.readline()
    if not line.endswith(b"\n"):
        raise RuntimeError("runtime: the server does not answer")
    answer = _decode(line.decode("utf-8"))
    if "error" in answer:
        raise RuntimeError("runtime: " + answer["error"]["message"])
    return answer.get("result")


def summary(text):
    """Sets the sentence that describes the run; at most 200 characters of it are kept."""
    _call("run.summary", {"text": str(text)})


def progress(text):
    """Tells whoever waits for the run how far it is."""
    _call("run.progress", {"text": str(text)})


from . import blobs, log, secrets  # noqa: E402,F401
