import type { PermissionKind } from '@vitrine/protocol'

/** How one agent is known to behave. What it does not do is said as well, and tested as well. */
export interface Expected {
  readonly agent: string
  /** The mode of the session, where the first one asks nobody. */
  readonly mode?: string
  /** What it does with questions; nothing when it never asks. */
  readonly asks?: Asks
  /** What makes it run a command, and ask before where it ever asks. */
  readonly run: 'run' | 'run-escalated'
  /** What it tells of the cost: of each turn in its result, and how full its context is. */
  readonly tells: { readonly usage: boolean; readonly context: boolean }
  readonly titled: boolean
  /** When it says that a tool call begins: before anything else about it, after that, or never. */
  readonly toolCall: 'first' | 'late' | 'never'
  /** It writes files through its client as well. */
  readonly writesThroughUs: boolean
  /** Tool calls whose end it never tells. */
  readonly leavesOpen: readonly ToolEnding[]
  /** What becomes of a turn whose model answers with this status. */
  readonly modelErrors: Readonly<Record<number, ModelError>>
  /** How a session comes back. */
  readonly restored: 'resume' | 'load'
  /** Before a session is so old the agent cannot load it, and is told what was said. */
  readonly loadsAfterMs?: number
}

export interface Asks {
  /** Its own names for the answers. */
  readonly answers: Readonly<Record<Extract<PermissionKind, 'allow_once' | 'reject_once'>, string>>
  /** A turn in which it was told no: how it ends, and whether the model hears of it. */
  readonly refused: { readonly outcome: 'ok' | 'cancelled'; readonly modelHears: boolean }
}

export type ToolEnding = 'refused write' | 'refused command' | 'cancelled command'

/** It fails with this code; or it ends as if all was well, and the sign is a message or that there was none. */
export type ModelError = 'agent_failed' | 'credentials_missing' | 'message' | 'silence'

/** 401 and above take it more than 20 seconds. */
export const claude: Expected = {
  agent: 'claude',
  asks: {
    answers: { allow_once: 'allow-once', reject_once: 'reject' },
    refused: { outcome: 'ok', modelHears: true },
  },
  run: 'run',
  tells: { usage: true, context: true },
  titled: true,
  toolCall: 'first',
  writesThroughUs: false,
  leavesOpen: [],
  modelErrors: { 400: 'agent_failed' },
  restored: 'resume',
}

/** In its first mode a model decides. In `read-only` it asks for each file, and for commands outside its own sandbox. */
export const codex: Expected = {
  agent: 'codex',
  mode: 'read-only',
  asks: {
    answers: { allow_once: 'allow_once', reject_once: 'cancel' },
    refused: { outcome: 'cancelled', modelHears: false },
  },
  run: 'run-escalated',
  tells: { usage: true, context: true },
  titled: true,
  toolCall: 'first',
  writesThroughUs: false,
  leavesOpen: ['refused write', 'cancelled command'],
  modelErrors: { 400: 'message', 401: 'credentials_missing', 429: 'message', 500: 'message' },
  restored: 'resume',
}

export const opencode: Expected = {
  agent: 'opencode',
  asks: {
    answers: { allow_once: 'once', reject_once: 'reject' },
    refused: { outcome: 'ok', modelHears: false },
  },
  run: 'run',
  tells: { usage: true, context: true },
  titled: false,
  toolCall: 'first',
  writesThroughUs: true,
  leavesOpen: [],
  modelErrors: { 400: 'agent_failed', 401: 'agent_failed' },
  restored: 'resume',
}

export const gemini: Expected = {
  agent: 'gemini',
  asks: {
    answers: { allow_once: 'proceed_once', reject_once: 'cancel' },
    refused: { outcome: 'ok', modelHears: true },
  },
  run: 'run',
  tells: { usage: false, context: false },
  titled: false,
  toolCall: 'never',
  writesThroughUs: false,
  leavesOpen: ['refused write', 'refused command'],
  modelErrors: { 400: 'agent_failed', 401: 'agent_failed' },
  restored: 'load',
  loadsAfterMs: 61_000,
}

export const pi: Expected = {
  agent: 'pi',
  run: 'run',
  tells: { usage: false, context: true },
  titled: false,
  toolCall: 'first',
  writesThroughUs: false,
  leavesOpen: [],
  modelErrors: { 400: 'silence', 401: 'silence' },
  restored: 'load',
}

export const cline: Expected = {
  agent: 'cline',
  asks: {
    answers: { allow_once: 'allow_once', reject_once: 'reject_once' },
    refused: { outcome: 'ok', modelHears: true },
  },
  run: 'run',
  tells: { usage: false, context: false },
  titled: false,
  toolCall: 'late',
  writesThroughUs: false,
  leavesOpen: [],
  modelErrors: { 400: 'agent_failed', 401: 'credentials_missing' },
  restored: 'load',
}
