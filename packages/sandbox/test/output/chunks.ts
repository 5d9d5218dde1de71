import fc from 'fast-check'

/** Bytes as a process writes them: letters, multi-byte characters, and bytes that are not text. */
export function bytes(maxLength = 40): fc.Arbitrary<Buffer> {
  const part = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength }).map((raw) => Buffer.from(raw)),
    fc.constantFrom('ä', '€', '😀', '\n').map((text) => Buffer.from(text)),
  )
  return fc.array(part, { maxLength: 8 }).map((parts) => Buffer.concat(parts))
}

/** The same bytes cut at any position, also inside characters. */
export function chunks(): fc.Arbitrary<Buffer[]> {
  return fc
    .tuple(bytes(), fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 12 }))
    .map(([whole, sizes]) => cut(whole, sizes))
}

function cut(whole: Buffer, sizes: readonly number[]): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0, turn = 0; at < whole.length; turn += 1) {
    // One chunk for each size, which may be empty; then the rest.
    const size = turn < sizes.length ? (sizes[turn] ?? 0) : whole.length
    found.push(whole.subarray(at, at + size))
    at += size
  }
  return found
}
