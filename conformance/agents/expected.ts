import type { PermissionKind } from '@vitrine/protocol'

/** How one agent is known to behave. What it does not do is said as well, and tested as well. */
export interface Expected {
  readonly agent: string
  /** The mode of the session, where the first one asks nobody. */
  readonly mode?: string
  /** The agent's own names for the answers; none when it never asks. */
  readonly answers?: Readonly<Record<Extract<PermissionKind, 'allow_once' | 'reject_once'>, string>>
  /** What makes it run a command, and ask before where it ever asks. */
  readonly run: 'run' | 'run-escalated'
  /** What a turn cost is in its result. */
  readonly usage: boolean
  /** How a turn ends in which it was told no. */
  readonly refused: 'ok' | 'cancelled'
  /** What becomes of a turn whose model refuses: it fails, or it ends as if all was well and there is a sign. */
  readonly modelError: 'fails' | 'message' | 'silence'
  /** How a session comes back. */
  readonly restored: 'resume' | 'load'
  /** Before a session is so old the agent cannot load it, and is told what was said. */
  readonly loadsAfterMs?: number
}

export const claude: Expected = {
  agent: 'claude',
  answers: { allow_once: 'allow-once', reject_once: 'reject' },
  run: 'run',
  usage: true,
  refused: 'ok',
  modelError: 'fails',
  restored: 'resume',
}

/** In its first mode a model decides. In `read-only` it asks for each file, and for commands outside its own sandbox. */
export const codex: Expected = {
  agent: 'codex',
  mode: 'read-only',
  answers: { allow_once: 'allow_once', reject_once: 'cancel' },
  run: 'run-escalated',
  usage: true,
  refused: 'cancelled',
  modelError: 'message',
  restored: 'resume',
}

export const opencode: Expected = {
  agent: 'opencode',
  answers: { allow_once: 'once', reject_once: 'reject' },
  run: 'run',
  usage: true,
  refused: 'ok',
  modelError: 'fails',
  restored: 'resume',
}

export const gemini: Expected = {
  agent: 'gemini',
  answers: { allow_once: 'proceed_once', reject_once: 'cancel' },
  run: 'run',
  usage: false,
  refused: 'ok',
  modelError: 'fails',
  restored: 'load',
  loadsAfterMs: 61_000,
}

export const pi: Expected = {
  agent: 'pi',
  run: 'run',
  usage: false,
  refused: 'ok',
  modelError: 'silence',
  restored: 'load',
}

export const cline: Expected = {
  agent: 'cline',
  answers: { allow_once: 'allow_once', reject_once: 'reject_once' },
  run: 'run',
  usage: false,
  refused: 'ok',
  modelError: 'fails',
  restored: 'load',
}
