"use strict";
// fetch by the proxy of the run. Old versions of Node do not know one, newer ones tunnel http:// too.
const http = require("http"), https = require("https"), tls = require("tls"), zlib = require("zlib");
const { Readable, pipeline } = require("stream");
const own = globalThis.fetch;
const proxy = process.env.http_proxy ? new URL(process.env.http_proxy) : null;
const past = (process.env.NO_PROXY || "").split(",");
const local = (host) => past.includes(host.replace(/^\[|\]$/g, ""));

// connect opens a tunnel and speaks TLS in it.
function connect(url, signal) {
  return new Promise((resolve, reject) => {
    const at = `${url.hostname}:${url.port || 443}`;
    const ask = http.request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: at, headers: { host: at }, signal });
    ask.on("error", reject);
    ask.on("connect", (answer, socket) => {
      if (answer.statusCode === 200) return resolve(tls.connect({ socket, servername: url.hostname }).on("error", reject));
      socket.destroy();
      reject(new Error(`the proxy refuses ${at}: ${answer.statusCode} ${answer.statusMessage}`));
    });
    ask.end();
  });
}

async function send(url, method, headers, body, signal) {
  const secure = url.protocol === "https:";
  const options = secure
    ? { host: url.hostname, path: url.pathname + url.search }
    : { host: proxy.hostname, port: proxy.port, path: url.href.split("#")[0], agent: false };
  const all = { "accept": "*/*", "accept-encoding": "gzip, deflate, br", "user-agent": "node", ...Object.fromEntries(headers), host: url.host, connection: "close" };
  if (body) all["content-length"] = body.length;
  if (secure) { const socket = await connect(url, signal); options.createConnection = () => socket; }
  return new Promise((resolve, reject) => {
    const ask = (secure ? https : http).request({ ...options, method, headers: all, signal }, resolve);
    ask.on("error", reject);
    ask.end(body);
  });
}

function decoded(answer) {
  const kind = (answer.headers["content-encoding"] || "").toLowerCase();
  const by = kind === "gzip" || kind === "deflate" ? zlib.createUnzip() : kind === "br" ? zlib.createBrotliDecompress() : null;
  return by ? pipeline(answer, by, () => {}) : answer;
}

async function proxied(input, init) {
  const request = new Request(input, init);
  let url = new URL(request.url), method = request.method;
  if (!/^https?:$/.test(url.protocol) || local(url.hostname)) return own(input, init);
  const headers = new Headers(request.headers);
  let body = request.body ? Buffer.from(await request.arrayBuffer()) : null;
  for (let hops = 0; ; hops++) {
    let answer;
    try { answer = await send(url, method, headers, body, request.signal); } catch (cause) {
      if (cause.name === "AbortError") throw request.signal.reason || cause;
      throw new TypeError("fetch failed: " + cause.message, { cause });
    }
    const to = answer.headers.location, moved = [301, 302, 303, 307, 308].includes(answer.statusCode);
    if (moved && to && request.redirect === "follow") {
      answer.resume();
      if (hops === 20) throw new TypeError("fetch failed: too many redirects");
      const next = new URL(to, url);
      if (!/^https?:$/.test(next.protocol)) throw new TypeError("fetch failed: a redirect to " + next.protocol);
      if (next.origin !== url.origin) for (const name of ["authorization", "cookie", "proxy-authorization"]) headers.delete(name);
      if (answer.statusCode === 303 && method !== "HEAD" || answer.statusCode < 303 && method === "POST") {
        method = "GET"; body = null;
        for (const name of ["content-type", "content-length", "content-encoding"]) headers.delete(name);
      }
      url = next;
      continue;
    }
    if (moved && request.redirect === "error") { answer.destroy(); throw new TypeError("fetch failed: a redirect"); }
    const got = new Headers();
    for (let i = 0; i < answer.rawHeaders.length; i += 2) got.append(answer.rawHeaders[i], answer.rawHeaders[i + 1]);
    const empty = method === "HEAD" || [204, 205, 304].includes(answer.statusCode);
    if (empty) answer.resume();
    const response = new Response(empty ? null : Readable.toWeb(decoded(answer)), { status: answer.statusCode, statusText: answer.statusMessage, headers: got });
    Object.defineProperty(response, "url", { value: url.href });
    Object.defineProperty(response, "redirected", { value: hops > 0 });
    return response;
  }
}

if (proxy && own) globalThis.fetch = proxied; // own asks for a tunnel where the proxy wants the absolute form
