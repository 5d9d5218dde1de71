import { toBytes } from './directories/exact-text.ts'
import { refusal } from './refusal.ts'

const maxPartBytes = 255

export interface NameRules {
  /** Whether names that are special on Windows are allowed. */
  readonly windows: 'refuse' | 'allow'
  readonly maxBytes: number
}

/** Validates a member's name and returns its path without `.` and empty parts. The root is ''. */
export function memberPath(name: string, { windows, maxBytes }: NameRules): string {
  if (name === '') throw refusal(name, 'has no name')
  if (name.includes('\0')) throw refusal(name, 'has a NUL in its name')
  if (name.startsWith('/')) throw refusal(name, 'is absolute')
  const path = isPlain(name) ? name : normalized(name)
  if (windows === 'refuse') {
    if (path.includes('\\')) throw refusal(name, 'has a backslash in its name')
    if (/^[A-Za-z]:/.test(path)) throw refusal(name, 'begins with a drive letter')
  }
  // A UTF-16 code unit takes at most three bytes.
  if (path.length * 3 > maxPartBytes) checkLength(name, path, maxBytes)
  return path
}

/** Whether a name has no empty, `.` or `..` part. */
function isPlain(name: string): boolean {
  return !/(^|\/)\.{0,2}(\/|$)/.test(name)
}

function normalized(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw refusal(name, 'contains ".." in its path')
  return parts.join('/')
}

function checkLength(name: string, path: string, maxBytes: number): void {
  if (byteLength(path) > maxBytes) throw refusal(name, `has a name of more than ${maxBytes} bytes`)
  for (const part of path.split('/'))
    if (part.length * 3 > maxPartBytes && byteLength(part) > maxPartBytes)
      throw refusal(name, `has a part of more than ${maxPartBytes} bytes in its name`)
}

export function byteLength(text: string): number {
  const bytes = toBytes(text)
  return typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length
}
