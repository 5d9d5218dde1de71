/** A line of the file: a value with its first owner, another owner of it, or an owner that is gone. */
export type SecretLine =
  | { readonly id: string; readonly owner: string; readonly sealed: string }
  | { readonly id: string; readonly owner: string }
  | { readonly id: string; readonly gone: string }

export function writeLine(line: SecretLine): string {
  return `${JSON.stringify(line)}\n`
}

/** Reads all lines; calls `onDamaged` with the number of each that is none. */
export function readLines(text: string, onDamaged: (line: number) => void): SecretLine[] {
  const texts = text.split('\n')
  // A host that died while it wrote the last line never used its value.
  texts.pop()
  return texts.flatMap((one, index) => {
    const line = parseLine(one)
    if (line === undefined) onDamaged(index + 1)
    return line === undefined ? [] : [line]
  })
}

function parseLine(text: string): SecretLine | undefined {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { id, owner, gone, sealed } = value
  if (typeof id !== 'string') return undefined
  if (typeof gone === 'string') return { id, gone }
  if (typeof owner !== 'string') return undefined
  if (sealed === undefined) return { id, owner }
  return typeof sealed === 'string' ? { id, owner, sealed } : undefined
}
