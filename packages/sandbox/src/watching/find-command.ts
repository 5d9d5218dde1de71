import type { FileKind } from '@vitrine/protocol'
import type { FindFormat } from './find-records.ts'

/** A command that lists everything below where it runs. */
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

/** GNU find says it all by itself, and passes over what it may not read. */
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
 * Any other find, with stat. It ends its lines with a line break, which a name may hold as well: what begins a line
 * is therefore a word that no name knows. What is gone before stat comes to it is no failure.
 */
export function plainFind(prune: readonly string[], word: string): FindCommand {
  const script = `find . -mindepth 1 ${pruned(prune)} -exec sh -c \\
    'stat -c "${word} %f %a %i %s %Y %Z %h %u %g %n" "$@" 2> /dev/null; [ $? -le 1 ]' sh {} + \\
    && printf '${word} end'`
  return {
    argv: ['sh', '-c', `echo; ${script}`, 'sh', ...prune.map(patternOf)],
    format: {
      separator: Buffer.from(`\n${word} `),
      kind: (field) => kindOfMode(Number.parseInt(field, 16)),
      mode: (field) => Number.parseInt(field, 8),
    },
  }
}

function pruned(prune: readonly string[]): string {
  if (prune.length === 0) return ''
  return `'(' ${prune.map((_, index) => `-name "\${${index + 1}}"`).join(' -o ')} ')' -prune -o`
}

/** Only `*` and `?` mean something in ours. */
function patternOf(name: string): string {
  return name.replace(/[[\]\\]/g, '\\$&')
}

function kindOfMode(mode: number): FileKind {
  const type = mode & 0o170000
  if (type === 0o100000) return 'file'
  if (type === 0o040000) return 'directory'
  return type === 0o120000 ? 'symlink' : 'other'
}
