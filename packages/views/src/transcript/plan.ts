import type { Moment } from '@vitrine/protocol'
import { asFields, type Fields, fieldsIn, omitUndefined, textIn } from '../fields.ts'
import { momentOf } from '../moment.ts'
import { head, nameIn } from './bounded.ts'
import { endMessageWithoutId } from './entries.ts'
import type { TranscriptStep } from './step.ts'
import type { Transcript } from './transcript.ts'

/** The agent's latest plan: its entries, its text, or the URI of its file. */
export interface TranscriptPlan {
  /** For agents with several plans; the one that changed last is shown. */
  readonly id?: string
  readonly entries: readonly {
    readonly content: string
    readonly status?: string
    readonly priority?: string
  }[]
  readonly text?: string
  readonly uri?: string
  readonly changedAt: Moment
}

const maxPlanEntries = 500

/** An empty plan removes the plan. */
export function setPlan(step: TranscriptStep, transcript: Transcript, plan: Fields): Transcript {
  const entries = entriesOf(plan.entries)
  const text = textIn(plan, 'content')
  const uri = nameIn(plan, 'uri')
  if (entries.length === 0 && !text && uri === undefined) return withoutPlan(step, transcript)
  const next = step.copy(endMessageWithoutId(step.copy, transcript))
  next.plan = {
    ...omitUndefined({ id: nameIn(plan, 'planId'), uri }),
    entries,
    ...(text && { text: head(text, step.limits.maxEntryChars) }),
    changedAt: momentOf(step.event),
  }
  return next
}

export function updatePlan(step: TranscriptStep, transcript: Transcript, update: Fields): Transcript {
  return setPlan(step, transcript, fieldsIn(update, 'plan'))
}

export function removePlan(step: TranscriptStep, transcript: Transcript, update: Fields): Transcript {
  return transcript.plan?.id === nameIn(update, 'planId') ? withoutPlan(step, transcript) : transcript
}

function withoutPlan({ copy }: TranscriptStep, transcript: Transcript): Transcript {
  if (transcript.plan === undefined) return transcript
  const next = copy(endMessageWithoutId(copy, transcript))
  delete next.plan
  return next
}

function entriesOf(value: unknown): TranscriptPlan['entries'] {
  if (!Array.isArray(value)) return []
  return value.slice(0, maxPlanEntries).flatMap((one) => {
    const entry = asFields(one)
    const content = nameIn(entry, 'content')
    if (content === undefined) return []
    return [
      { content, ...omitUndefined({ status: nameIn(entry, 'status'), priority: nameIn(entry, 'priority') }) },
    ]
  })
}
