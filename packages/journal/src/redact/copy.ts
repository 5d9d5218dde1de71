/** Mutable JSON data that only its owner references. */
export type JsonCopy = string | number | boolean | null | JsonCopy[] | { [key: string]: JsonCopy }

/** How a copy transforms texts, keys and bytes. */
export interface CopyRules {
  text(text: string): string
  key(key: string): string
  /** Bytes are not JSON: returns the text that represents them. */
  bytes(bytes: Uint8Array): string
}

const maxDepth = 100

/**
 * A private deep copy of any value as JSON data. It never throws: a value that JSON cannot represent becomes a string
 * that describes it.
 *
 * @example
 * copyJson({ at: new Date(0), big: 1n }, rules) // { at: '1970-01-01T00:00:00.000Z', big: '1' }
 */
export function copyJson(value: unknown, rules: CopyRules): JsonCopy {
  return copy(value, '', rules, []) ?? null
}

/** Returns undefined for undefined, which JSON omits. */
function copy(value: unknown, key: string, rules: CopyRules, parents: object[]): JsonCopy | undefined {
  switch (typeof value) {
    case 'string':
      return rules.text(value)
    case 'number':
      return Number.isFinite(value) ? value + 0 : null
    case 'boolean':
      return value
    case 'undefined':
      return undefined
    case 'bigint':
      return rules.text(value.toString())
    case 'symbol':
      return rules.text(value.description ?? '')
    case 'function':
      return rules.text(functionText(value))
    case 'object':
      return value === null ? null : copyObject(value, key, rules, parents)
  }
}

function copyObject(value: object, key: string, rules: CopyRules, parents: object[]): JsonCopy | undefined {
  if (parents.length >= maxDepth) return '[too deep]'
  if (parents.includes(value)) return '[circular]'
  parents.push(value)
  try {
    return copyByKind(value, key, rules, parents)
  } catch {
    return '[unreadable]'
  } finally {
    parents.pop()
  }
}

function copyByKind(value: object, key: string, rules: CopyRules, parents: object[]): JsonCopy | undefined {
  if ('toJSON' in value && typeof value.toJSON === 'function' && !ArrayBuffer.isView(value)) {
    const json: unknown = value.toJSON(key)
    if (typeof json !== 'object' || json === null) return copy(json, key, rules, parents)
    return copyFields(json, rules, parents)
  }
  return copyFields(value, rules, parents)
}

function copyFields(value: object, rules: CopyRules, parents: object[]): JsonCopy | undefined {
  if (Array.isArray(value)) return copyItems(value, rules, parents)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return copyKeys(value, rules, parents)
  if (value instanceof Error) return copyKeys({ name: value.name, message: value.message }, rules, parents)
  if (value instanceof Map) return copyMap(value, rules, parents)
  if (value instanceof Set) return copyItems([...value], rules, parents)
  if (ArrayBuffer.isView(value)) {
    return rules.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  }
  if (value instanceof ArrayBuffer) return rules.bytes(new Uint8Array(value))
  if (value instanceof String || value instanceof Number || value instanceof Boolean) {
    return copy(value.valueOf(), '', rules, parents)
  }
  return copyKeys(value, rules, parents)
}

function copyItems(items: readonly unknown[], rules: CopyRules, parents: object[]): JsonCopy {
  const copied: JsonCopy[] = []
  for (let index = 0; index < items.length; index++) {
    copied.push(copy(read(items, index), String(index), rules, parents) ?? null)
  }
  return copied
}

function copyMap(map: Map<unknown, unknown>, rules: CopyRules, parents: object[]): JsonCopy {
  const entries = [...map]
  if (!entries.every(([key]) => typeof key === 'string')) return copyItems(entries, rules, parents)
  return copyKeys(Object.fromEntries(entries), rules, parents)
}

function copyKeys(value: object, rules: CopyRules, parents: object[]): JsonCopy {
  const copied: { [key: string]: JsonCopy } = {}
  for (const key of Object.keys(value)) {
    const item = copy(read(value, key), key, rules, parents)
    if (item === undefined) continue
    const name = rules.key(key)
    if (name === '__proto__') define(copied, name, item)
    else if (name === key) copied[name] = item
    else copied[freeName(name, value, copied)] = item
  }
  return copied
}

/** A masked key must not overwrite another one. */
function freeName(name: string, value: object, copied: object): string {
  let free = name
  for (let count = 2; Object.hasOwn(value, free) || Object.hasOwn(copied, free); count++)
    free = `${name}~${count}`
  return free
}

/** Assigning to `__proto__` would change the prototype instead. */
function define(copied: object, key: string, value: JsonCopy): void {
  Object.defineProperty(copied, key, { value, enumerable: true, configurable: true, writable: true })
}

function functionText(value: object): string {
  const name = read(value, 'name')
  return typeof name === 'string' && name !== '' ? `[function ${name}]` : '[function]'
}

function read(value: object, key: PropertyKey): unknown {
  try {
    // Any property may be read; its value is unknown.
    return (value as { readonly [key: PropertyKey]: unknown })[key]
  } catch {
    return '[unreadable]'
  }
}
