import { randomUUID } from 'node:crypto'
import type { McpServer, SessionUpdate, ToolKind } from '@agentclientprotocol/sdk/unstable'
import { type Choices, firstChoices, type Mode } from './options.ts'

/** One conversation with its settings and history. */
export interface DemoSession {
  readonly id: string
  cwd: string
  mode: Mode
  choices: Choices
  title: string | undefined
  updatedAt: string
  /** Simulated number of tokens in the context. */
  tokens: number
  history: SessionUpdate[]
  mcpServers: readonly McpServer[]
  /** Answers of the kind `allow_always` or `reject_always`, by kind of tool. */
  readonly rememberedAnswers: Map<ToolKind, 'allow' | 'reject'>
  /** Aborts the running turn. */
  running: AbortController | undefined
}

/** The fields of a session that are stored on disk. */
export type StoredSession = Pick<
  DemoSession,
  'id' | 'cwd' | 'mode' | 'choices' | 'title' | 'updatedAt' | 'tokens' | 'history'
>

export function newSession(cwd: string, mcpServers: readonly McpServer[]): DemoSession {
  return fromStored(
    {
      id: `demo-${randomUUID()}`,
      cwd,
      mode: 'ask',
      choices: firstChoices,
      title: undefined,
      updatedAt: new Date().toISOString(),
      tokens: 0,
      history: [],
    },
    cwd,
    mcpServers,
  )
}

/** Opens a stored session in a working directory. */
export function fromStored(
  stored: StoredSession,
  cwd: string,
  mcpServers: readonly McpServer[],
): DemoSession {
  return { ...stored, cwd, mcpServers, rememberedAnswers: new Map(), running: undefined }
}

export function forkOf(source: StoredSession, cwd: string, mcpServers: readonly McpServer[]): DemoSession {
  const copy = structuredClone(toStored(source))
  return fromStored(
    { ...copy, id: `demo-${randomUUID()}`, updatedAt: new Date().toISOString() },
    cwd,
    mcpServers,
  )
}

export function toStored(session: StoredSession): StoredSession {
  const { id, cwd, mode, choices, title, updatedAt, tokens, history } = session
  return { id, cwd, mode, choices, title, updatedAt, tokens, history }
}
