"use strict";
// Starts a run: asks for its job, calls one function, and tells what became of it.
const Module = require("module"), path = require("path"), fs = require("fs");
const { pathToFileURL } = require("url");
const runtime = require("./runtime.js");
const MOST = 7 << 20; // bytes of a result
const job = runtime._call("run.job", {});

const entries = new Map();
for (const skill of job.skills) {
  if (skill.language !== "javascript" || !skill.entrypoint) continue;
  const file = path.join(process.env.SKILLS_DIR, skill.dir, skill.entrypoint);
  entries.set("skills." + skill.module, file);
  entries.set("skills/" + skill.dir, file);
}
const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  if (request === "runtime") return path.join(__dirname, "runtime.js");
  return entries.get(request) || resolve.call(this, request, ...rest);
};

require("./fetch.js");

// hook lets ES modules find the same.
function hook() {
  const places = { runtime: pathToFileURL(path.join(__dirname, "runtime.js")).href };
  for (const [name, file] of entries) places[name] = pathToFileURL(file).href;
  const parents = (process.env.NODE_PATH || "").split(path.delimiter).filter(Boolean).map((dir) => pathToFileURL(path.join(dir, "..", "from.mjs")).href);
  if (Module.register) Module.register(pathToFileURL(path.join(__dirname, "hooks.mjs")), { data: { places, parents } });
}

const IS_MODULE = /^\s*(?:import\s*[\w{*"']|export\s*(?:\{|\*|default\b|async\b|function\b|const\b|let\b|class\b|var\b))/m;

// load returns what a file exports, whether it is an ES module or not.
async function load(file, isCode) {
  const text = fs.readFileSync(file, "utf8");
  if (/\bimport\b/.test(text) || file.endsWith(".mjs")) hook();
  if (file.endsWith(".mjs") || IS_MODULE.test(text)) {
    if (!isCode) return import(pathToFileURL(file));
    const other = file.replace(/\.js$/, ".mjs");
    fs.writeFileSync(other, text);
    return import(pathToFileURL(other));
  }
  if (!isCode || !/^[A-Za-z_$][\w$]*$/.test(job.export)) return require(file);
  const made = new Module(file, module); // a function that is not exported is found too
  made.filename = file;
  made.paths = Module._nodeModulePaths(path.dirname(file));
  made._compile(`${text}\n;if (typeof ${job.export} === "function" && !(Object(module.exports).${job.export})) module.exports.${job.export} = ${job.export};`, file);
  return made.exports;
}

let ended = false;
function fail(type, message) {
  if (ended) return;
  ended = true;
  runtime._call("run.done", { error: { type, message } });
  process.exit(1);
}

function thrown(e) {
  const text = (e && e.stack) || String(e);
  process.stderr.write(text + "\n");
  fail((e && e.name) || "Error", text);
}
process.on("uncaughtException", thrown);
process.on("unhandledRejection", thrown);

function isJSON(value, depth) {
  if (depth > 900) return "it is nested too deeply";
  switch (typeof value) {
    case "number": return Number.isFinite(value) ? "" : "it holds " + value;
    case "string": case "boolean": return "";
    case "object":
      if (value === null || typeof value.toJSON === "function") return "";
      for (const part of Array.isArray(value) ? value : Object.values(value)) {
        const why = part === undefined ? "" : isJSON(part, depth + 1);
        if (why) return why;
      }
      return "";
  }
  return "it holds a " + typeof value;
}

(async () => {
  const file = job.skill ? entries.get("skills." + job.skill) : path.join(process.env.RUN_DIR, job.code);
  const loaded = await load(file, !job.skill);
  const main = loaded[job.export] || (loaded.default && loaded.default[job.export]) || (job.export === "main" && loaded.default);
  if (typeof main !== "function") throw new ReferenceError(`${path.basename(file)} exports no function "${job.export}": write module.exports.${job.export} = …, or export function ${job.export}(args) in an ES module`);
  let result = await main(job.args);
  if (result === undefined) result = null;
  const why = isJSON(result, 0);
  if (why) return fail("NotJSON", "the result is not JSON: " + why);
  const text = JSON.stringify(result);
  if (Buffer.byteLength(text) > MOST) return fail("OutputTooLarge", `the result has ${Buffer.byteLength(text)} bytes of JSON: write a blob and return its id`);
  if (ended) return;
  ended = true;
  runtime._call("run.done", { result });
})().catch(thrown);
