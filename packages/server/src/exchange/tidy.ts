const everyBytes = 12 * 1024 * 1024

let passed = 0
let collect: (() => void) | undefined
let thrifty = false

/**
 * Left alone, V8 grows by two hundred mebibytes under a load of which nothing is kept, and stays so. A daemon has the
 * machine to share with what runs in its sandboxes; small requests alone are quicker without.
 */
export function beThrifty(): void {
  thrifty = true
}

/**
 * Called with what was passed on. Buffers that are done with are small to the collector, however much they hold: left
 * alone it lets a hundred mebibytes of them pile up before it looks.
 */
export function tidyAfter(bytes: number): void {
  passed += bytes
  if (passed < everyBytes) return
  passed = 0
  collect ??= findCollector()
  collect()
}

function findCollector(): () => void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  if (thrifty) setFlagsFromString('--optimize-for-size')
  setFlagsFromString('--expose-gc')
  const gc: unknown = process.getBuiltinModule('node:vm').runInNewContext('gc')
  return typeof gc === 'function' ? () => void gc({ type: 'minor' }) : () => undefined
}
