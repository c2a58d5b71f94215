"use strict";
// Lets ES modules import the packages of NODE_PATH, as require finds them.
const Module = require("module"), path = require("path");
const { pathToFileURL } = require("url");
const parents = (process.env.NODE_PATH || "").split(path.delimiter).filter(Boolean).map((dir) => pathToFileURL(path.join(dir, "..", "from.mjs")).href);

// resolve runs in the same thread, where Node has such hooks.
function resolve(specifier, context, next) {
  try {
    return next(specifier, context);
  } catch (e) {
    if (e.code !== "ERR_MODULE_NOT_FOUND" || /^(\.{0,2}\/|[a-z]+:|#)/i.test(specifier)) throw e;
    for (const parentURL of parents) {
      try {
        return next(specifier, { ...context, parentURL });
      } catch (other) {
        if (other.code !== "ERR_MODULE_NOT_FOUND") throw other;
      }
    }
    throw e;
  }
}

if (parents.length > 0) {
  if (Module.registerHooks) Module.registerHooks({ resolve });
  else if (Module.register) Module.register(pathToFileURL(path.join(__dirname, "esm.mjs")), { data: { parents } });
}
