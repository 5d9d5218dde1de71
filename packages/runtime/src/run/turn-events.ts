import { isGap, type JournalItem, type JournalReader, readPages } from '@vitrine/protocol'

/** The turn whose events are read. */
export interface FollowedTurn {
  readonly journal: JournalReader
  /** The cursor after which its events are read; absent for the beginning of the journal. */
  readonly after: string | undefined
  readonly turn: string
  readonly session: string
  /** The ids of its run. */
  readonly runs: ReadonlySet<string>
  /** Settles when the turn has ended: then its last event is committed. */
  readonly ended: Promise<unknown>
}

/**
 * The events of a turn as they are committed, up to its end. While the turn runs it follows the journal; once the turn has
 * ended it reads the rest in pages, so that it also ends if the turn never began.
 */
export async function* turnEvents(followed: FollowedTurn): AsyncGenerator<JournalItem, undefined> {
  const { journal, ended } = followed
  const settled = new AbortController()
  const stop = () => settled.abort()
  ended.then(stop, stop)
  let last: JournalItem | undefined
  const after = () => (last === undefined ? followed.after : journal.cursor(last))
  const from = (cursor: string | undefined) => (cursor === undefined ? {} : { after: cursor })
  for await (const item of journal.tail({ ...from(after()), signal: settled.signal })) {
    last = item
    if (isForeign(item, followed)) continue
    yield item
    if (isEnd(item, followed)) return undefined
  }
  for await (const { events } of readPages(journal, from(after())))
    for (const item of events) {
      if (isForeign(item, followed)) continue
      yield item
      if (isEnd(item, followed)) return undefined
    }
  return undefined
}

/** Whether an event is of another session or another run of the same sandbox. */
function isForeign(item: JournalItem, { session, runs }: FollowedTurn): boolean {
  if (isGap(item)) return false
  if (item.session !== undefined && item.session !== session) return true
  return item.run !== undefined && !runs.has(item.run)
}

/** Whether an event is of a run with one of these ids, and not of another caller. */
export function isOfRun(item: JournalItem, runs: ReadonlySet<string>): boolean {
  return !isGap(item) && item.run !== undefined && runs.has(item.run)
}

function isEnd(item: JournalItem, { turn }: FollowedTurn): boolean {
  return item.type === 'turn.finished' && !isGap(item) && item.turn === turn
}
