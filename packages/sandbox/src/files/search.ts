import { closeSync, constants } from 'node:fs'
import { type FileIdentity, type Handle, may, TimeSlice } from '@vitrine/archives'
import { type SearchHit, type SearchOptions, type SearchResult, VitrineError } from '@vitrine/protocol'
import { type GlobPattern, globPattern } from '@vitrine/protocol/primitives'
import type { FileContext } from './file-context.ts'
import { directoryAt } from './list.ts'
import { blockBytes, matchingLines } from './matching-lines.ts'

/** Directories nested deeper than this are not searched. */
const maxDepth = 256

/** Searches by name, content or both. `truncated` reports that the limit of hits or of depth was reached. */
export async function search(
  context: FileContext,
  path: string,
  options: SearchOptions & { readonly ignored: (path: string, name: string) => boolean },
  identity: FileIdentity | undefined,
): Promise<SearchResult> {
  const { name, content, limit = 1_000, ignoreCase = false, signal, ignored } = options
  if (name === undefined && content === undefined)
    throw new VitrineError('argument_invalid', 'Expected `name`, `content` or both to search for.')
  const matchesName = name === undefined ? undefined : globPattern(name, ignoreCase)
  const timeSlice = new TimeSlice(signal)
  const { directory, shown } = directoryAt(context, path, identity)
  const hits: SearchHit[] = []
  const state: SearchState = {
    matchesName,
    content,
    ignoreCase,
    ignored,
    identity,
    timeSlice,
    prefix: shown === '.' ? '' : `${shown}/`,
    block: Buffer.allocUnsafeSlow(content === undefined ? 0 : blockBytes),
  }
  let truncated = false
  for await (const hit of below(state, directory, '', 0)) {
    if (hit === 'too deep') truncated = true
    else if (hits.length === limit) {
      truncated = true
      break
    } else hits.push(hit)
  }
  return { hits, truncated }
}

interface SearchState {
  readonly matchesName: GlobPattern | undefined
  readonly content: string | undefined
  readonly ignoreCase: boolean
  readonly ignored: (path: string, name: string) => boolean
  readonly identity: FileIdentity | undefined
  readonly timeSlice: TimeSlice
  readonly prefix: string
  readonly block: Buffer
}

/** Searches a directory recursively and closes its handle. */
async function* below(
  state: SearchState,
  directory: Handle,
  path: string,
  depth: number,
): AsyncGenerator<SearchHit | 'too deep'> {
  const { matchesName, content, ignored, identity, timeSlice, prefix } = state
  try {
    for (const name of directory.names().sort()) {
      if (timeSlice.expired) await timeSlice.yieldToEventLoop()
      const from = path === '' ? name : `${path}/${name}`
      if (ignored(`${prefix}${from}`, name)) continue
      const entry = directory.entry(name)
      if (entry === undefined) continue
      let handedOver = false
      try {
        const { kind } = entry
        if (matchesName === undefined || matchesName(from, name)) {
          if (content === undefined) yield { path: `${prefix}${from}`, kind }
          else if (kind === 'file' && (identity === undefined || may(entry.stats, 'read', identity)))
            yield* linesOf(state, entry, `${prefix}${from}`)
        }
        if (kind !== 'directory') continue
        if (
          identity !== undefined &&
          !(may(entry.stats, 'read', identity) && may(entry.stats, 'search', identity))
        )
          continue
        if (depth === maxDepth) yield 'too deep'
        else {
          handedOver = true
          yield* below(state, entry, from, depth + 1)
        }
      } finally {
        if (!handedOver) entry.close()
      }
    }
  } finally {
    directory.close()
  }
}

async function* linesOf(
  { content, ignoreCase, timeSlice, block }: SearchState,
  entry: Handle,
  path: string,
): AsyncGenerator<SearchHit> {
  const fd = entry.open(constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    for (const found of matchingLines(fd, content!, ignoreCase, block)) {
      if (timeSlice.expired) await timeSlice.yieldToEventLoop()
      if (found !== undefined) yield { path, kind: 'file', ...found }
    }
  } finally {
    closeSync(fd)
  }
}
