import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { writePrivateFile } from './private-file.ts'

/** The token of a data directory, generated on first use and stored in its token file. */
export function storedToken(data: string): string {
  const path = join(data, 'token')
  const stored = readToken(path)
  if (stored !== undefined) return stored
  const token = randomBytes(32).toString('base64url')
  writePrivateFile(path, `${token}\n`)
  return token
}

function readToken(path: string): string | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    const message = error instanceof Error ? error.message : String(error)
    throw new VitrineError('file_denied', `The token file ${path} cannot be read: ${message}.`, {
      cause: error,
    })
  }
  try {
    const mode = fstatSync(file).mode & 0o777
    if ((mode & 0o077) !== 0) throw readableByOthers(path, mode)
    return tokenIn(readFileSync(file, 'utf8'), path)
  } finally {
    closeSync(file)
  }
}

function readableByOthers(path: string, mode: number): VitrineError {
  return new VitrineError(
    'file_denied',
    `Other users can read the token file ${path} (mode ${mode.toString(8).padStart(4, '0')}). ` +
      `Remove it, and the next start generates a new token; or run "chmod 600 ${path}" to keep this one.`,
  )
}

function tokenIn(text: string, path: string): string {
  const token = text.trim()
  if (/^[\x21-\x7e]{8,512}$/.test(token)) return token
  throw new VitrineError(
    'argument_invalid',
    `No valid token in ${path}: expected 8 to 512 visible ASCII characters. Remove the file, and the next start generates one.`,
  )
}
