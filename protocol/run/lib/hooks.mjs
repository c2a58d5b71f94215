// Finds runtime and skills/<id> for ES modules.
let places = {};
export function initialize(data) { places = data; }
export function resolve(specifier, context, next) {
  const url = places[specifier];
  return url ? { url, shortCircuit: true } : next(specifier, context);
}
