import type { PermissionKind } from '@vitrine/protocol'

/** How one agent is known to behave. What it does not do is said as well, and tested as well. */
export interface ExpectedBehaviour {
  readonly agent: string
  /** The mode of the session, where the first one asks nobody. */
  readonly mode?: string
  /** What it does with questions; nothing when it never asks. */
  readonly permissions?: PermissionBehaviour
  /** What makes it run a command, and ask before where it ever asks. */
  readonly run: 'run' | 'run-escalated'
  /** What it tells of the cost: of each turn in its result, and how full its context is. */
  readonly reports: { readonly usage: boolean; readonly context: boolean }
  readonly setsTitle: boolean
  /** When it says that a tool call begins: before anything else about it, after that, or never. */
  readonly toolCall: 'first' | 'late' | 'never'
  /** It writes files through its client as well. */
  readonly writesThroughClient: boolean
  /** Tool calls whose end it never tells. */
  readonly leavesOpen: readonly ToolEnding[]
  /** What becomes of a turn whose model answers with this status. */
  readonly modelErrors: Readonly<Record<number, ModelError>>
  /** How a session comes back. */
  readonly restored: 'resume' | 'load'
  /** Before a session is so old the agent cannot load it, and is told what was said. */
  readonly loadsAfterMs?: number
}

export interface PermissionBehaviour {
  /** Its own names for the answers. */
  readonly answers: Readonly<Record<Extract<PermissionKind, 'allow_once' | 'reject_once'>, string>>
  /** A turn in which it was told no: how it ends, and whether the model hears of it. */
  readonly refused: { readonly outcome: 'ok' | 'cancelled'; readonly modelIsInformed: boolean }
}

export type ToolEnding = 'refused write' | 'refused command' | 'cancelled command'

/** It fails with this code; or it ends as if all was well, and the sign is a message or that there was none. */
export type ModelError = 'agent_failed' | 'credentials_missing' | 'message' | 'silence'

/** 401 and above take it more than 20 seconds. */
export const claude: ExpectedBehaviour = {
  agent: 'claude',
  permissions: {
    answers: { allow_once: 'allow-once', reject_once: 'reject' },
    refused: { outcome: 'ok', modelIsInformed: true },
  },
  run: 'run',
  reports: { usage: true, context: true },
  setsTitle: true,
  toolCall: 'first',
  writesThroughClient: false,
  leavesOpen: [],
  modelErrors: { 400: 'agent_failed' },
  restored: 'resume',
}

/** In its first mode a model decides. In `read-only` it asks for each file, and for commands outside its own sandbox. */
export const codex: ExpectedBehaviour = {
  agent: 'codex',
  mode: 'read-only',
  permissions: {
    answers: { allow_once: 'allow_once', reject_once: 'cancel' },
    refused: { outcome: 'cancelled', modelIsInformed: false },
  },
  run: 'run-escalated',
  reports: { usage: true, context: true },
  setsTitle: true,
  toolCall: 'first',
  writesThroughClient: false,
  leavesOpen: ['refused write', 'cancelled command'],
  modelErrors: { 400: 'message', 401: 'credentials_missing', 429: 'message', 500: 'message' },
  restored: 'resume',
}

export const opencode: ExpectedBehaviour = {
  agent: 'opencode',
  permissions: {
    answers: { allow_once: 'once', reject_once: 'reject' },
    refused: { outcome: 'ok', modelIsInformed: false },
  },
  run: 'run',
  reports: { usage: true, context: true },
  setsTitle: false,
  toolCall: 'first',
  writesThroughClient: true,
  leavesOpen: [],
  modelErrors: { 400: 'agent_failed', 401: 'agent_failed' },
  restored: 'resume',
}

export const gemini: ExpectedBehaviour = {
  agent: 'gemini',
  permissions: {
    answers: { allow_once: 'proceed_once', reject_once: 'cancel' },
    refused: { outcome: 'ok', modelIsInformed: true },
  },
  run: 'run',
  reports: { usage: false, context: false },
  setsTitle: false,
  toolCall: 'never',
  writesThroughClient: false,
  leavesOpen: ['refused write', 'refused command'],
  modelErrors: { 400: 'agent_failed', 401: 'agent_failed' },
  restored: 'load',
  loadsAfterMs: 61_000,
}

export const pi: ExpectedBehaviour = {
  agent: 'pi',
  run: 'run',
  reports: { usage: false, context: true },
  setsTitle: false,
  toolCall: 'first',
  writesThroughClient: false,
  leavesOpen: [],
  modelErrors: { 400: 'silence', 401: 'silence' },
  restored: 'load',
}

export const cline: ExpectedBehaviour = {
  agent: 'cline',
  permissions: {
    answers: { allow_once: 'allow_once', reject_once: 'reject_once' },
    refused: { outcome: 'ok', modelIsInformed: true },
  },
  run: 'run',
  reports: { usage: false, context: false },
  setsTitle: false,
  toolCall: 'late',
  writesThroughClient: false,
  leavesOpen: [],
  modelErrors: { 400: 'agent_failed', 401: 'credentials_missing' },
  restored: 'load',
}
