import { resolve } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { shown } from '@vitrine/protocol/primitives'

/** The absolute path of a directory that a caller gave. An empty path is refused: it would be the working directory. */
export function resolveDirectory(directory: string): string {
  if (typeof directory === 'string' && directory !== '' && !directory.includes('\0'))
    return resolve(directory)
  throw new VitrineError(
    'argument_invalid',
    `directory: expected the path of a directory of this machine, got ${shown(directory)}.`,
    { details: { path: 'directory' } },
  )
}
