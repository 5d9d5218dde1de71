type Json = null | boolean | number | string | readonly Json[] | JsonObject

interface JsonObject {
  readonly [key: string]: Json
}

/** A `package.json`. */
export interface Manifest extends JsonObject {
  readonly name: string
}

/**
 * The manifest without its references to sources, which are not packed. The condition `source` cannot be published with
 * them either: Node refuses to strip the types of files in `node_modules`.
 */
export function publishedManifest({ devDependencies: _, ...manifest }: Manifest): Manifest {
  const { exports = {}, imports, sideEffects = true } = manifest
  return {
    ...manifest,
    exports: withoutSource(exports),
    ...(imports !== undefined && { imports: withoutSource(imports) }),
    sideEffects: Array.isArray(sideEffects) ? sideEffects.filter((path) => !isSource(path)) : sideEffects,
  }
}

function withoutSource(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([condition]) => condition !== 'source')
      .map(([key, target]) => [key, withoutSource(target)]),
  )
}

function isSource(path: Json): boolean {
  return typeof path === 'string' && path.startsWith('./src/')
}
