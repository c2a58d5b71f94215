// Lets ES modules import the packages of NODE_PATH, where hooks run in a thread of their own.
let parents = [];
export function initialize(data) { ({ parents } = data); }
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (e) {
    if (e.code !== "ERR_MODULE_NOT_FOUND" || /^(\.{0,2}\/|[a-z]+:|#)/i.test(specifier)) throw e;
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
