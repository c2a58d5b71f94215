"use strict";
// What a run can ask of the server: blobs, log, secrets, summary and progress.
const fs = require("fs"), path = require("path"), os = require("os");
const { isMainThread } = require("worker_threads");
const PART = 1 << 20;
let last = 0, rest = Buffer.alloc(0);

function wait() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); }

function writeAll(text) {
  let left = Buffer.from(text);
  while (left.length) {
    try { left = left.subarray(fs.writeSync(4, left)); } catch (e) { if (e.code !== "EAGAIN") throw e; wait(); }
  }
}

function readLine() {
  const parts = [rest];
  let part = rest, end;
  while ((end = part.indexOf(10)) < 0) {
    part = Buffer.alloc(65536);
    let n;
    try { n = fs.readSync(3, part); } catch (e) { if (e.code !== "EAGAIN") throw e; wait(); part = Buffer.alloc(0); continue; }
    if (n === 0) throw new Error("runtime: the server does not answer");
    parts.push(part = part.subarray(0, n));
  }
  rest = part.subarray(end + 1);
  parts[parts.length - 1] = part.subarray(0, end);
  return Buffer.concat(parts).toString("utf8");
}

function call(method, params) {
  if (!isMainThread) throw new Error("runtime: only the main thread may call");
  writeAll(JSON.stringify({ jsonrpc: "2.0", id: ++last, method, params }) + "\n");
  const answer = JSON.parse(readLine());
  if (answer.error) throw new Error("runtime: " + answer.error.message);
  return answer.result;
}

function mounted(id) {
  const file = path.join(process.env.BLOBS_DIR, id);
  return !id.includes("/") && fs.existsSync(file) ? file : "";
}

function readBytes(id) {
  const file = mounted(id);
  if (file) return fs.readFileSync(file);
  const parts = [];
  for (let offset = 0; ;) {
    const got = call("blobs.read", { blob_id: id, offset, length: PART });
    const part = Buffer.from(got.content, "base64");
    parts.push(part);
    offset += part.length;
    if (!part.length || offset >= got.size_bytes) return Buffer.concat(parts);
  }
}

function temporary(content) {
  const file = path.join(fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), "blob-")), "content");
  fs.writeFileSync(file, content);
  return file;
}

const blobs = {
  list: () => call("blobs.list", {}).blobs,
  path: (id) => mounted(id) || temporary(readBytes(id)),
  readBytes,
  readText: (id) => readBytes(id).toString("utf8"),
  readJson: (id) => JSON.parse(readBytes(id).toString("utf8")),
  writeText: (content, kind = "text/plain") =>
    content.length > PART ? blobs.writeBytes(Buffer.from(content), kind) : call("blobs.create", { content, kind }).blob_id,
  writeBytes: (content, kind = "application/octet-stream") =>
    content.length > PART ? blobs.writeFile(temporary(content), kind)
      : call("blobs.create", { content: Buffer.from(content).toString("base64"), encoding: "base64", kind }).blob_id,
  writeJson: (value, kind = "application/json") => blobs.writeText(JSON.stringify(value), kind),
  writeFile: (file, kind = "") =>
    call("blobs.create", { path: path.relative(fs.realpathSync(process.env.WORKSPACE_DIR), fs.realpathSync(file)), kind }).blob_id,
};

const line = (level) => (message) => fs.writeSync(2, `${level}: ${message}\n`);
const log = { debug: line("debug"), info: line("info"), warning: line("warning"), error: line("error") };

const secrets = {
  get(name) {
    const file = path.join("/run/secrets", name);
    if (!name.includes("/") && fs.existsSync(file)) return fs.readFileSync(file, "utf8");
    const granted = (process.env.SATCHEL_SECRETS || "").split(",");
    if (!granted.includes(name) || process.env[name] === undefined) throw new Error(`secret "${name}" is not granted to this run`);
    return process.env[name];
  },
};

function summary(text) { call("run.summary", { text: String(text) }); }
function progress(text) { call("run.progress", { text: String(text) }); }

module.exports = { blobs, log, secrets, summary, progress, _call: call };
