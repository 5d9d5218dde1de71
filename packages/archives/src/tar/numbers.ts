import { invalid } from '../refusal.ts'

const space = 0x20
const zero = 0x30

/** Reads a number of a header: octal text, or base 256 if the first bit is set. */
export function readNumber(block: Buffer, at: number, length: number): number {
  const first = block[at]!
  if (first === 0x80 || first === 0xff) return readBase256(block, at, length)
  let value = 0
  let digits = 0
  for (let index = at; index < at + length; index += 1) {
    const byte = block[index]!
    if (byte === space || byte === 0) {
      if (digits > 0) break
      continue
    }
    const digit = byte - zero
    if (digit < 0 || digit > 7) throw invalid('has a header with an invalid number')
    value = value * 8 + digit
    digits += 1
  }
  return value
}

function readBase256(block: Buffer, at: number, length: number): number {
  let value = block[at] === 0xff ? -1 : 0
  for (let index = at + 1; index < at + length; index += 1) {
    value = value * 256 + block[index]!
    if (!Number.isSafeInteger(value)) throw invalid('has a header with a number that is too large')
  }
  return value
}

/** Writes octal text that fills the field up to its last byte, which is NUL. */
export function writeOctal(block: Buffer, at: number, length: number, value: number): void {
  let rest = value
  for (let index = at + length - 2; index >= at; index -= 1) {
    block[index] = zero + (rest % 8)
    rest = Math.floor(rest / 8)
  }
  block[at + length - 1] = 0
}

export function fitsOctal(value: number, length: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < 8 ** (length - 1)
}
