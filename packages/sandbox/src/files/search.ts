import { closeSync, constants } from 'node:fs'
import { type SearchHit, type SearchOptions, type SearchResult, VitrineError } from '@vitrine/protocol'
import type { FileContext } from './file-context.ts'
import type { Handle } from './handle.ts'
import { type Identity, may } from './identity.ts'
import { directoryAt } from './list.ts'
import { blockBytes, matchingLines } from './matching-lines.ts'
import { type NamePattern, namePattern } from './name-pattern.ts'
import { TimeSlice } from './time-slice.ts'

/** Deeper than this nothing is looked for. */
const maxDepth = 256

/** By name, by content or both. It is bounded by hits and by depth, and says so. */
export async function search(
  room: FileContext,
  path: string,
  options: SearchOptions & { readonly ignored: (path: string, name: string) => boolean },
  as: Identity | undefined,
): Promise<SearchResult> {
  const { name, content, limit = 1_000, ignoreCase = false, signal, ignored } = options
  if (name === undefined && content === undefined)
    throw new VitrineError('argument_invalid', 'Expected `name`, `content` or both to search for.')
  const named = name === undefined ? undefined : namePattern(name, ignoreCase)
  const pace = new TimeSlice(signal)
  const { directory, told } = directoryAt(room, path, as)
  const hits: SearchHit[] = []
  const looking: Looking = {
    named,
    content,
    ignoreCase,
    ignored,
    as,
    pace,
    prefix: told === '.' ? '' : `${told}/`,
    block: Buffer.allocUnsafeSlow(content === undefined ? 0 : blockBytes),
  }
  let truncated = false
  for await (const hit of below(looking, directory, '', 0)) {
    if (hit === 'too deep') truncated = true
    else if (hits.length === limit) {
      truncated = true
      break
    } else hits.push(hit)
  }
  return { hits, truncated }
}

interface Looking {
  readonly named: NamePattern | undefined
  readonly content: string | undefined
  readonly ignoreCase: boolean
  readonly ignored: (path: string, name: string) => boolean
  readonly as: Identity | undefined
  readonly pace: TimeSlice
  readonly prefix: string
  readonly block: Buffer
}

/** Takes the directory and closes it. */
async function* below(
  looking: Looking,
  directory: Handle,
  path: string,
  depth: number,
): AsyncGenerator<SearchHit | 'too deep'> {
  const { named, content, ignored, as, pace, prefix } = looking
  try {
    for (const name of directory.names().sort()) {
      if (pace.expired) await pace.yieldToEventLoop()
      const from = path === '' ? name : `${path}/${name}`
      if (ignored(`${prefix}${from}`, name)) continue
      const entry = directory.entry(name)
      if (entry === undefined) continue
      let kept = false
      try {
        const { kind } = entry
        if (named === undefined || named(from, name)) {
          if (content === undefined) yield { path: `${prefix}${from}`, kind }
          else if (kind === 'file' && (as === undefined || may(entry.stats, 'read', as)))
            yield* linesOf(looking, entry, `${prefix}${from}`)
        }
        if (kind !== 'directory') continue
        if (as !== undefined && !(may(entry.stats, 'read', as) && may(entry.stats, 'search', as))) continue
        if (depth === maxDepth) yield 'too deep'
        else {
          kept = true
          yield* below(looking, entry, from, depth + 1)
        }
      } finally {
        if (!kept) entry.close()
      }
    }
  } finally {
    directory.close()
  }
}

async function* linesOf(
  { content, ignoreCase, pace, block }: Looking,
  entry: Handle,
  path: string,
): AsyncGenerator<SearchHit> {
  const fd = entry.open(constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    for (const found of matchingLines(fd, content!, ignoreCase, block)) {
      if (pace.expired) await pace.yieldToEventLoop()
      if (found !== undefined) yield { path, kind: 'file', ...found }
    }
  } finally {
    closeSync(fd)
  }
}
