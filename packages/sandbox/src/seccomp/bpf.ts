import { VitrineError } from '@vitrine/protocol'

/** One line of a classic BPF program: an instruction, or a name for the instruction that follows it. */
export type Line =
  | { readonly op: 'load'; readonly offset: number }
  | { readonly op: 'jump'; readonly when: Comparison; readonly value: number; readonly to: string }
  | { readonly op: 'return'; readonly value: number }
  | { readonly op: 'label'; readonly name: string }

/** `any-bit` holds when the word shares a bit with the value. */
export type Comparison = 'equal' | 'at-least' | 'any-bit'

/** Loads a 32-bit word of the examined data. */
export const load = (offset: number): Line => ({ op: 'load', offset })

/** Jumps to the label if the comparison with the loaded word holds; otherwise continues with the next line. */
export const jump = (when: Comparison, value: number, to: string): Line => ({ op: 'jump', when, value, to })

/** Returns a value and ends the program. */
export const returnValue = (value: number): Line => ({ op: 'return', value })

export const label = (name: string): Line => ({ op: 'label', name })

const opcodes = { load: 0x20, return: 0x06, equal: 0x15, 'at-least': 0x35, 'any-bit': 0x45 } as const

const instructionBytes = 8
const longestJump = 255

/** Assembles the program into an array of `struct sock_filter`, little endian. */
export function assemble(lines: readonly Line[]): Uint8Array {
  const positions = labelPositions(lines)
  const instructions = lines.filter((line) => line.op !== 'label')
  const bytes = new Uint8Array(instructions.length * instructionBytes)
  const view = new DataView(bytes.buffer)
  instructions.forEach((line, at) => {
    const start = at * instructionBytes
    view.setUint16(start, opcodes[line.op === 'jump' ? line.when : line.op], true)
    if (line.op === 'jump') view.setUint8(start + 2, distance(line.to, positions.get(line.to), at))
    view.setUint32(start + 4, line.op === 'load' ? line.offset : line.value, true)
  })
  return bytes
}

function labelPositions(lines: readonly Line[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>()
  let at = 0
  for (const line of lines) {
    if (line.op !== 'label') at += 1
    else if (positions.has(line.name)) throw assemblyError(`the label ${line.name} is defined twice`)
    else positions.set(line.name, at)
  }
  return positions
}

/** The distance of a jump: the kernel supports forward jumps only, encoded in one byte. */
function distance(name: string, position: number | undefined, from: number): number {
  if (position === undefined) throw assemblyError(`there is no label ${name}`)
  const length = position - from - 1
  if (length < 0 || length > longestJump)
    throw assemblyError(`the jump to ${name} is ${length} instructions long`)
  return length
}

function assemblyError(why: string): VitrineError {
  return new VitrineError('internal', `The filter cannot be assembled: ${why}.`)
}
