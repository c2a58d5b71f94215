"""Starts a run: asks for its job, calls one function, and tells what became of it."""
import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import types

MOST = 7 << 20  # bytes of a result

STANDARD = getattr(sys, "stdlib_module_names", None)  # since 3.10
STANDARD_PATH = [p for p in sys.path if "-packages" not in p]  # before ours is added


def is_taken(top):
    """Reports whether a name belongs to Python or to a run: no file of a skill can stand for it."""
    if top in ("runtime", "skills", "run_code") or top in sys.builtin_module_names:
        return True
    if STANDARD is not None:
        return top in STANDARD
    return importlib.machinery.PathFinder.find_spec(top, STANDARD_PATH) is not None


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import runtime  # noqa: E402


def is_installed(top):
    """Reports whether a name is a module elsewhere: a folder without __init__.py gives way to it, as in Python."""
    spec = importlib.machinery.PathFinder.find_spec(top)
    return spec is not None and spec.origin is not None


def shown(error, frames):
    """Returns the traceback as text, without the lines of this file and of the machinery that imports."""
    import traceback

    here = os.path.abspath(__file__)
    told, seen, todo = traceback.TracebackException(type(error), error, frames), set(), []
    todo.append(told)
    while todo:
        part = todo.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        part.stack[:] = [f for f in part.stack if f.filename not in (here, importlib.__file__) and not f.filename.startswith("<frozen importlib")]
        todo += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or [])]
    return "".join(told.format())


class Beside:
    """Lets the modules of a skill import those beside its entrypoint by their plain names, each skill its own."""

    def __init__(self, skills):
        self.dirs = {}
        for s in skills:
            root = os.path.join(os.environ["SKILLS_DIR"], s["dir"])
            entry = s["entrypoint"] if s.get("language") == "python" and s.get("entrypoint") else "scripts/x"
            self.dirs["skills." + s["module"]] = os.path.join(root, os.path.dirname(entry))
        self.plain = builtins.__import__
        self.module = importlib.import_module

    def owner(self, caller, name):
        """Returns the module of the skill that caller belongs to, if the name is beside its entrypoint, or ""."""
        owner = (caller or {}).get("__name__") or ""
        while owner and owner not in self.dirs:
            owner = owner.rpartition(".")[0]
        top = name.partition(".")[0]
        if not owner or not top or is_taken(top):
            return ""
        place = os.path.join(self.dirs[owner], top)
        if os.path.isfile(place + ".py") or os.path.isfile(os.path.join(place, "__init__.py")):
            return owner
        return owner if os.path.isdir(place) and not is_installed(top) else ""

    def __call__(self, name, globals=None, locals=None, fromlist=(), level=0):
        owner = self.owner(globals, name) if level == 0 else ""
        if not owner:
            return self.plain(name, globals, locals, fromlist, level)
        module = self.module(owner + "." + name)
        if fromlist:
            return self.plain(owner + "." + name, globals, locals, fromlist, 0)
        top = name.partition(".")[0]
        return module if name == top else sys.modules[owner + "." + top]

    def import_module(self, name, package=None):
        """Stands for importlib.import_module, for the module that calls it."""
        owner = "" if name.startswith(".") else self.owner(sys._getframe(1).f_globals, name)
        return self.module(owner + "." + name) if owner else self.module(name, package)


class Skills(importlib.abc.MetaPathFinder):
    """Finds skills.<id>: the body of its entrypoint, with that directory as path."""

    def __init__(self, skills):
        self.skills = {"skills." + s["module"]: s for s in skills}
        self.parents = {"skills"}
        for name in self.skills:
            while "." in name:
                name = name.rpartition(".")[0]
                self.parents.add(name)

    def find_spec(self, name, path=None, target=None):
        skill = self.skills.get(name)
        if skill is None:
            if name not in self.parents:
                return None
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = []
            return spec
        root = os.path.join(os.environ["SKILLS_DIR"], skill["dir"])
        entry = skill.get("entrypoint") or ""
        if skill.get("language") != "python" or not entry:
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [os.path.join(root, os.path.dirname(entry) or "scripts")]
            return spec
        file = os.path.join(root, entry)
        return importlib.util.spec_from_file_location(name, file, submodule_search_locations=[os.path.dirname(file)])


def load(job):
    """Returns the function that the job wants called."""
    if job["skill"]:
        module = importlib.import_module("skills." + job["skill"])
    else:
        file = os.path.join(os.environ["RUN_DIR"], job["code"])
        spec = importlib.util.spec_from_file_location("run_code", file)
        module = importlib.util.module_from_spec(spec)
        sys.modules["run_code"] = module
        spec.loader.exec_module(module)
    function = getattr(module, job["export"], None)
    if not callable(function):
        raise NameError("the code has no function %r" % job["export"])
    return function


async def awaited(result):
    return await result


def fail(kind, message):
    runtime._call("run.done", {"error": {"type": kind, "message": message}})
    sys.stderr.flush()
    sys.exit(1)


def main():
    job = runtime._call("run.job", {})
    own = next((i for i, p in enumerate(sys.path) if "-packages" in p), len(sys.path))
    sys.path[own:own] = job.get("packages") or []  # behind the standard library
    sys.meta_path.insert(0, Skills(job["skills"]))
    beside = Beside(job["skills"])
    builtins.__import__, importlib.import_module = beside, beside.import_module
    try:
        result = load(job)(job["args"])
        if hasattr(result, "__await__"):
            import asyncio

            result = asyncio.run(awaited(result))
    except SystemExit:
        raise
    except BaseException as e:
        text = shown(e, e.__traceback__)
        sys.stderr.write(text)
        fail(type(e).__name__, text)
    sys.stdout.flush()
    try:
        text = json.dumps(result, allow_nan=False, ensure_ascii=False)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as e:
        fail("NotJSON", "the result is not JSON: %s" % e)
    if len(text.encode("utf-8")) > MOST:
        fail("OutputTooLarge", "the result has %d bytes of JSON: write a blob and return its id" % len(text))
    runtime._call("run.done", {"result": json.loads(text)})


main()
