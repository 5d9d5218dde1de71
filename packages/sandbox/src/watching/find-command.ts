import type { FileKind } from '@vitrine/protocol'
import type { FindFormat } from './find-records.ts'

/** A command that lists everything below its working directory. */
export interface FindCommand {
  readonly argv: readonly string[]
  readonly format: FindFormat
}

const kinds: Readonly<Record<string, FileKind | 'unreadable'>> = {
  f: 'file',
  d: 'directory',
  l: 'symlink',
  x: 'unreadable',
}

/** GNU find, which prints all attributes itself and skips unreadable directories. */
export function gnuFind(prune: readonly string[]): FindCommand {
  const facts = '%m %i %s %T@ %C@ %n %U %G %p'
  const script = `find . -ignore_readdir_race -mindepth 1 ${pruned(prune)} \\
    -type d ! '(' -readable -executable ')' -printf '\\0x ${facts}' -prune -o -printf '\\0%y ${facts}' \\
    && printf '\\0end'`
  return {
    argv: ['sh', '-c', script, 'sh', ...prune.map(patternOf)],
    format: {
      separator: Buffer.of(0),
      kind: (field) => kinds[field] ?? 'other',
      mode: (field) => Number.parseInt(field, 8),
    },
  }
}

/**
 * Any other find, combined with stat. Its records end with a line break, which a name may contain too, so each record
 * begins with a random marker. A file that is removed before stat reads it is not a failure.
 */
export function plainFind(prune: readonly string[], marker: string): FindCommand {
  const script = `find . -mindepth 1 ${pruned(prune)} -exec sh -c \\
    'stat -c "${marker} %f %a %i %s %Y %Z %h %u %g %n" "$@" 2> /dev/null; [ $? -le 1 ]' sh {} + \\
    && printf '${marker} end'`
  return {
    argv: ['sh', '-c', `echo; ${script}`, 'sh', ...prune.map(patternOf)],
    format: {
      separator: Buffer.from(`\n${marker} `),
      kind: (field) => kindOfMode(Number.parseInt(field, 16)),
      mode: (field) => Number.parseInt(field, 8),
    },
  }
}

function pruned(prune: readonly string[]): string {
  if (prune.length === 0) return ''
  return `'(' ${prune.map((_, index) => `-name "\${${index + 1}}"`).join(' -o ')} ')' -prune -o`
}

/** Escapes the characters that are special in find's patterns but not in ours, which know only `*` and `?`. */
function patternOf(name: string): string {
  return name.replace(/[[\]\\]/g, '\\$&')
}

function kindOfMode(mode: number): FileKind {
  const type = mode & 0o170000
  if (type === 0o100000) return 'file'
  if (type === 0o040000) return 'directory'
  return type === 0o120000 ? 'symlink' : 'other'
}
