// Finds runtime, skills/<id> and, as require does by NODE_PATH, installed packages for ES modules.
let places = {}, parents = [];
export function initialize(data) { ({ places, parents } = data); }
export async function resolve(specifier, context, next) {
  const url = places[specifier];
  if (url) return { url, shortCircuit: true };
  try {
    return await next(specifier, context);
  } catch (e) {
    if (e.code !== "ERR_MODULE_NOT_FOUND" || /^(\.{0,2}\/|[a-z]+:)/i.test(specifier)) throw e;
    for (const parentURL of parents) {
      try {
        return await next(specifier, { ...context, parentURL });
      } catch (other) {
        if (other.code !== "ERR_MODULE_NOT_FOUND") throw other;
      }
    }
    throw e;
  }
}
