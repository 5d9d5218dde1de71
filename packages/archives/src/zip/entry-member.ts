import { decodePathText } from '@vitrine/protocol/primitives'
import type { Member, MemberKind } from '../member.ts'
import { invalid, refusal } from '../refusal.ts'
import type { ZipEntry } from './directory.ts'

const kinds: ReadonlyMap<number, MemberKind> = new Map([
  [0o010000, 'fifo'],
  [0o020000, 'device'],
  [0o040000, 'directory'],
  [0o060000, 'device'],
  [0o100000, 'file'],
  [0o120000, 'symlink'],
  [0o140000, 'socket'],
])

const methods: Readonly<Record<number, string>> = {
  1: 'shrunk',
  6: 'imploded',
  9: 'deflated by Deflate64',
  12: 'compressed by bzip2',
  14: 'compressed by LZMA',
  93: 'compressed by zstd',
  95: 'compressed by xz',
  98: 'compressed by PPMd',
  99: 'encrypted',
}

export const stored = 0
export const deflated = 8

const cp437Upper =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

/** Converts an entry to a member. A link's target is its content, which is not read here. */
export function memberOf(entry: ZipEntry): Member {
  const name = nameOf(entry)
  checkMethod(entry, name)
  const kind = kindOf(entry, name)
  if (kind === 'directory' && entry.size !== 0) throw refusal(name, 'is a directory but has content')
  const mode = entry.mode & 0o7777 || (kind === 'directory' ? 0o755 : 0o644)
  return { name, kind, mode, mtime: entry.mtime, size: entry.size, target: '' }
}

function nameOf({ rawName, flags, madeByUnix }: ZipEntry): string {
  const bytes = Buffer.from(rawName, 'latin1')
  const isUtf8 = (flags & 0x800) !== 0
  return isUtf8 || madeByUnix ? decodePathText(bytes) : fromCp437(bytes)
}

function checkMethod({ flags, method, size, compressed }: ZipEntry, name: string): void {
  if ((flags & 0x2041) !== 0) throw refusal(name, 'is encrypted')
  if ((flags & 0x20) !== 0) throw refusal(name, 'is a patch of something else')
  if (method !== stored && method !== deflated)
    throw refusal(name, `is ${methods[method] ?? `compressed by the unknown method ${method}`}`)
  if (method === stored && size !== compressed) throw invalid('has an entry with two sizes')
}

function kindOf({ mode, isDosDirectory }: ZipEntry, name: string): MemberKind {
  const type = mode & 0o170000
  const named = name.endsWith('/') ? 'directory' : 'file'
  if (type === 0) return isDosDirectory ? 'directory' : named
  const kind = kinds.get(type)
  if (kind === undefined) throw refusal(name, 'is of an unknown kind')
  if (named === 'directory' && kind !== 'directory')
    throw refusal(name, `is a ${kind} with the name of a directory`)
  return kind
}

/** Decodes code page 437, the default encoding of names in a zip. */
function fromCp437(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    byte < 0x80 ? String.fromCharCode(byte) : cp437Upper[byte - 0x80]!,
  ).join('')
}
