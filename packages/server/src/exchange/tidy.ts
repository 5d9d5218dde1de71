const everyBytes = 12 * 1024 * 1024

let passed = 0
let collect: (() => void) | undefined

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
  process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
  const gc: unknown = process.getBuiltinModule('node:vm').runInNewContext('gc')
  return typeof gc === 'function' ? () => void gc({ type: 'minor' }) : () => undefined
}
