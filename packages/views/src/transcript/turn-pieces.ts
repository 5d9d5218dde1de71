import {
  type ContextUse,
  type Cost,
  isGap,
  type JournalEvent,
  type JournalItem,
  type PieceOrigin,
  type StreamPiece,
  type Usage,
} from '@vitrine/protocol'
import { copyOnWrite } from '../copy-on-write.ts'
import { asFields, omitUndefined, outcomeIn, textIn } from '../fields.ts'
import { fileChangeOf } from '../files/file-change.ts'
import { momentOf } from '../moment.ts'
import { longTextIn } from '../text/long-text.ts'
import { checkedLimits } from './limits.ts'
import { pieceCursor } from './piece-cursor.ts'
import { type NewPiece, pieceOfEntry } from './piece-of-entry.ts'
import { emptyTranscript, type Transcript, type TranscriptTurn } from './transcript.ts'
import { applyItem } from './transcript-view.ts'

export interface PiecesOptions {
  readonly session: string
  readonly turn: string
}

/** The pieces that one item of the journal adds, and the transcript of the turn after it. */
export interface AddedPieces {
  readonly transcript: Transcript
  readonly pieces: readonly StreamPiece[]
}

/**
 * The pieces of one turn, made from its transcript: a pure function from the turn's events, given in order from its
 * first one. The last piece has the type `end`.
 *
 * @example
 * let { transcript } = turnPieces.start
 * for (const item of events) {
 *   const added = turnPieces.add({ session, turn }, transcript, item)
 *   transcript = added.transcript
 *   show(added.pieces)
 * }
 */
export const turnPieces = {
  start: { transcript: emptyTranscript, pieces: [] } as AddedPieces,
  /** The types of the events that have pieces. */
  types: ['agent.message', 'turn.*', 'permission.*', 'question.*', 'file.*', 'prompt.*'] as readonly string[],
  add(options: PiecesOptions, transcript: Transcript, item: JournalItem): AddedPieces {
    if (isGap(item)) return { transcript: applyItem(batch(), transcript, item), pieces: [] }
    if (item.session !== options.session || item.turn !== options.turn) return { transcript, pieces: [] }
    const found: NewPiece[] = []
    const after = applyItem(
      {
        ...batch(),
        onEntry: (entry, before, added) => found.push(...pieceOfEntry(entry, before, added)),
      },
      transcript,
      item,
    )
    found.push(...usagePieces(item, transcript, after), ...filePieces(item), ...endPieces(item, after))
    const pieces = found.map((piece, index) => ({ ...piece, ...originOf(item, options.turn, index) }))
    return { transcript: after, pieces }
  },
}

const limits = checkedLimits({})

function batch() {
  return { copy: copyOnWrite(), limits }
}

function originOf(event: JournalEvent, turn: string, index: number): PieceOrigin {
  return { turn, at: momentOf(event), cursor: pieceCursor(turn, { seq: event.seq, index }) }
}

function filePieces(event: JournalEvent): NewPiece[] {
  const change = changes.find((one) => event.type === `file.${one}`)
  const file = change && fileChangeOf(event)
  if (change === undefined || file === undefined) return []
  const { path, kind, previousPath, size, before, after } = file
  return [{ type: 'fileChange', change, path, kind, ...omitUndefined({ previousPath, size, before, after }) }]
}

const changes = ['created', 'changed', 'deleted', 'moved'] as const

/** The agent's report during the turn, and that of the whole turn at its end. */
function usagePieces(event: JournalEvent, before: Transcript, after: Transcript): NewPiece[] {
  if (event.type === 'turn.finished') {
    const { usage, cost, context } = endedTurn(event, after) ?? {}
    return reported({ usage, cost, context })
  }
  if (event.type !== 'agent.message' || before.usage === after.usage) return []
  const { context, cost: sessionCost } = after.usage
  return reported({ context, sessionCost })
}

function reported(fields: {
  readonly context?: ContextUse | undefined
  readonly usage?: Usage | undefined
  readonly cost?: Cost | undefined
  readonly sessionCost?: Cost | undefined
}): NewPiece[] {
  const known = omitUndefined(fields)
  return Object.keys(known).length === 0 ? [] : [{ type: 'usage', ...known }]
}

function endPieces(event: JournalEvent, { complete, ...transcript }: Transcript): NewPiece[] {
  if (event.type === 'prompt.dropped') return [{ type: 'end', ...droppedEnd(event), complete }]
  const turn = event.type === 'turn.finished' ? endedTurn(event, { complete, ...transcript }) : undefined
  if (turn === undefined) return []
  const { outcome = 'interrupted', stopReason, modelError, errorCode, errorMessage } = turn
  return [
    {
      type: 'end',
      outcome,
      ...omitUndefined({ stopReason, modelError }),
      ...errorOf(outcome === 'failed' ? errorCode : undefined, errorMessage),
      complete,
    },
  ]
}

function endedTurn({ turn }: JournalEvent, { turns }: Transcript): TranscriptTurn | undefined {
  return turns.findLast(({ id }) => id === turn)
}

/** A prompt that ended before its turn started. */
function droppedEnd(event: JournalEvent) {
  const data = asFields(event.data)
  const reason = textIn(data, 'reason')
  const known = reason === 'cancelled' || reason === 'interrupted' ? reason : 'failed'
  const outcome = outcomeIn(data) ?? known
  const code = textIn(data, 'errorCode') ?? (reason === 'closed' ? 'session_closed' : undefined)
  return { outcome, ...errorOf(outcome === 'failed' ? code : undefined, longTextIn(data, 'errorMessage')) }
}

function errorOf(code: string | undefined, message = '') {
  return code === undefined ? {} : { error: { code, message } }
}
