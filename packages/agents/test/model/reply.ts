import type { Ask } from './ask.ts'
import type { Mark } from './mark.ts'
import { exampleOf, filler } from './schema.ts'
import { type Call, callToRun, callToRunEscalated, callToWrite } from './tools.ts'

/** What the model answers, whatever the dialect. Lists are the pieces in which it is streamed. */
export interface Reply {
  readonly thought: readonly string[]
  readonly text: readonly string[]
  readonly call?: Call
  /** Between two pieces. */
  readonly pauseMs: number
}

export interface Refusal {
  readonly status: number
  readonly message: string
}

const slowPauseMs = 200
const slowPieces = 300

/** What the model does when told so; it knows nothing of what was asked before. */
export function replyTo(ask: Ask, mark: Mark | undefined): Reply | Refusal {
  // What has a shape or no tools is not the user's: a title, a summary, a review.
  if (ask.shape) return speech(JSON.stringify(exampleOf(ask.shape)))
  if (ask.tools.length === 0) return speech(filler)
  const result = ask.results.at(-1)
  if (result !== undefined) return speech(`done: ${result.trim().slice(0, 200)}`)
  switch (mark?.kind) {
    case undefined:
      return speech(`You said ${lastWord(ask.prompt)}.`)
    case 'say':
      return speech(`I say ${mark.word}.`)
    case 'think':
      return {
        ...speech(`I thought about ${mark.about || 'it'}.`),
        thought: pieces(`Let me think about ${mark.about || 'it'}.`),
      }
    case 'slow':
      return { ...speech(''), text: countdown(mark.about), pauseMs: slowPauseMs }
    case 'error':
      return { status: mark.status, message: `The fake model was told to fail with ${mark.status}.` }
    case 'write':
      return calling(callToWrite(ask.tools, mark.path, mark.content), 'writes files')
    case 'run':
      return calling(callToRun(ask.tools, mark.command), 'runs commands')
    case 'run-escalated':
      return calling(callToRunEscalated(ask.tools, mark.command), 'runs commands')
  }
}

function calling(call: Call | undefined, what: string): Reply {
  return call ? { thought: [], text: [], call, pauseMs: 0 } : speech(`There is no tool that ${what}.`)
}

function speech(text: string): Reply {
  return { thought: [], text: pieces(text), pauseMs: 0 }
}

/** Words, each with the space before it. */
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
