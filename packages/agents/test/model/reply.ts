import type { CompletionRequest } from './completion-request.ts'
import type { Mark } from './mark.ts'
import { exampleOf, filler } from './schema.ts'
import { type Call, callToRun, callToRunEscalated, callToWrite } from './tools.ts'

/** The reply of the model, independent of the dialect. Lists are the chunks of a stream. */
export interface ModelReply {
  readonly thought: readonly string[]
  readonly text: readonly string[]
  readonly call?: Call
  /** Pause between two chunks. */
  readonly pauseMs: number
}

export interface ModelRefusal {
  readonly status: number
  readonly message: string
}

const slowPauseMs = 200
const slowPieces = 300

/** Computes the reply from the request and its mark alone; the model has no memory. */
export function replyTo(ask: CompletionRequest, mark: Mark | undefined): ModelReply | ModelRefusal {
  // A request with a schema or without tools does not come from the user: it is for a title, a summary or a review.
  if (ask.shape) return textReply(JSON.stringify(exampleOf(ask.shape)))
  if (ask.tools.length === 0) return textReply(filler)
  const result = ask.results.at(-1)
  if (result !== undefined) return textReply(`done: ${result.trim().slice(0, 200)}`)
  switch (mark?.kind) {
    case undefined:
      return textReply(`You said ${lastWord(ask.prompt)}.`)
    case 'say':
      return textReply(`I say ${mark.word}.`)
    case 'think':
      return {
        ...textReply(`I thought about ${mark.about || 'it'}.`),
        thought: pieces(`Let me think about ${mark.about || 'it'}.`),
      }
    case 'slow':
      return { ...textReply(''), text: countdown(mark.about), pauseMs: slowPauseMs }
    case 'error':
      return { status: mark.status, message: `The fake model was told to fail with ${mark.status}.` }
    case 'write':
      return callReply(callToWrite(ask.tools, mark.path, mark.content), 'writes files')
    case 'run':
      return callReply(callToRun(ask.tools, mark.command), 'runs commands')
    case 'run-escalated':
      return callReply(callToRunEscalated(ask.tools, mark.command), 'runs commands')
    case 'call':
      return callReply(
        { kind: 'function', name: mark.name, input: JSON.parse(mark.input) },
        `is ${mark.name}`,
      )
  }
}

function callReply(call: Call | undefined, what: string): ModelReply {
  return call ? { thought: [], text: [], call, pauseMs: 0 } : textReply(`There is no tool that ${what}.`)
}

function textReply(text: string): ModelReply {
  return { thought: [], text: pieces(text), pauseMs: 0 }
}

/** Splits a text into words, each with the space before it. */
function pieces(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? []
}

function countdown(about: string): string[] {
  return Array.from({ length: slowPieces }, (_, index) => `${about || 'slowly'} ${slowPieces - index} `)
}

function lastWord(prompt: string): string {
  const words = prompt.replace(/<[^<>]*>/g, ' ').match(/[\p{L}\p{N}_-]+/gu)
  return words?.at(-1) ?? 'nothing'
}
