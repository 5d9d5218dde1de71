import type { JsonObject, PermissionKind } from '@vitrine/protocol'

/** The known behaviour of one agent. Missing features are listed too, and tested. */
export interface ExpectedBehaviour {
  readonly agent: string
  /** The session mode, for an agent whose default mode never asks for permission. */
  readonly mode?: string
  /** How it handles permission requests; absent if it never asks. */
  readonly permissions?: PermissionBehaviour
  /** The model instruction that makes it run a command, after a permission request if it ever asks. */
  readonly run: 'run' | 'run-escalated'
  /** Whether it reports the token usage of a turn in its result, and the fill level of its context. */
  readonly reports: { readonly usage: boolean; readonly context: boolean }
  readonly setsTitle: boolean
  /** The tool by which its model asks the user, and an input of it; absent if it has none that works. */
  readonly question?: { readonly tool: string; readonly input: JsonObject }
  /** When it sends `tool_call`: before any `tool_call_update`, after one, or never. */
  readonly toolCall: 'first' | 'late' | 'never'
  /** Whether it also writes files through the client, with `fs/write_text_file`. */
  readonly writesThroughClient: boolean
  /** Tool calls whose end it never reports. */
  readonly leavesOpen: readonly ToolEnding[]
  /** The effect on a turn when the model responds with this HTTP status. */
  readonly modelErrors: Readonly<Record<number, ModelError>>
  /** The effect on a turn when the model endpoint answers with a page of HTML and status 404. */
  readonly page: ModelError
  /** The ACP method that restores a session. */
  readonly restored: 'resume' | 'load'
  /** The age from which the agent can load a session. A younger one is restored by sending its transcript. */
  readonly loadsAfterMs?: number
}

export interface PermissionBehaviour {
  /** The agent's own option ids for the answers. */
  readonly answers: Readonly<Record<Extract<PermissionKind, 'allow_once' | 'reject_once'>, string>>
  /** A turn whose permission request was rejected: its outcome, and whether the model is informed. */
  readonly refused: { readonly outcome: 'ok' | 'cancelled'; readonly modelIsInformed: boolean }
}

export type ToolEnding = 'refused write' | 'refused command' | 'cancelled command'

/** The turn fails with this code; or it ends with `ok`, and the sign of the error is a message or the lack of one. */
export type ModelError = 'agent_failed' | 'credentials_missing' | 'message' | 'silence'

/** Only 400 is tested: the agent takes more than 20 seconds for statuses from 401 upwards. */
export const claude: ExpectedBehaviour = {
  agent: 'claude',
  permissions: {
    answers: { allow_once: 'allow-once', reject_once: 'reject' },
    refused: { outcome: 'ok', modelIsInformed: true },
  },
  run: 'run',
  reports: { usage: true, context: true },
  setsTitle: true,
  question: {
    tool: 'AskUserQuestion',
    input: {
      questions: [
        {
          question: 'Which colour?',
          header: 'Colour',
          options: [
            { label: 'Plum', description: 'dark' },
            { label: 'Lime', description: 'light' },
          ],
          multiSelect: false,
        },
      ],
    },
  },
  toolCall: 'first',
  writesThroughClient: false,
  leavesOpen: [],
  modelErrors: { 400: 'agent_failed' },
  page: 'agent_failed',
  restored: 'resume',
}

/** In its default mode a model decides. In `read-only` it asks for each file, and for commands outside its own sandbox. */
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
  page: 'message',
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
  page: 'agent_failed',
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
  page: 'agent_failed',
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
  page: 'silence',
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
  page: 'agent_failed',
  restored: 'load',
}
