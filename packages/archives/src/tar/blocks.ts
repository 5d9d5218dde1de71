export const blockBytes = 512

/** The bytes missing to a whole block. */
export function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes
}

const checksumAt = 148
const checksumBytes = 8

/** The sum of a header's bytes, with the checksum field counted as spaces. */
export function checksumOf(buffer: Buffer, at: number): number {
  let sum = checksumBytes * 0x20
  for (let index = at; index < at + checksumAt; index += 1) sum += buffer[index]!
  for (let index = at + checksumAt + checksumBytes; index < at + blockBytes; index += 1) sum += buffer[index]!
  return sum
}
