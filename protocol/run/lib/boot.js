"use strict";
// Starts a run: asks for its job, calls one function, and tells what became of it.
const Module = require("module"), path = require("path");
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
  const loaded = require(file);
  const main = loaded[job.export];
  if (typeof main !== "function") throw new ReferenceError(`module.exports has no function "${job.export}"`);
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
