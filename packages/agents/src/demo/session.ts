import { randomUUID } from 'node:crypto'
import type { McpServer, SessionUpdate, ToolKind } from '@agentclientprotocol/sdk/unstable'
import { type Choices, firstChoices, type Mode } from './options.ts'

/** One conversation: a few fields and what was said. */
export interface DemoSession {
  readonly id: string
  cwd: string
  mode: Mode
  choices: Choices
  title: string | undefined
  updatedAt: string
  /** Pretended tokens in the context. */
  tokens: number
  history: SessionUpdate[]
  mcpServers: readonly McpServer[]
  /** What the user answered once and for all. */
  readonly standing: Map<ToolKind, 'allow' | 'reject'>
  /** Ends the turn that runs. */
  running: AbortController | undefined
}

/** What is kept of it on disk. */
export type KeptSession = Pick<
  DemoSession,
  'id' | 'cwd' | 'mode' | 'choices' | 'title' | 'updatedAt' | 'tokens' | 'history'
>

export function newSession(cwd: string, mcpServers: readonly McpServer[]): DemoSession {
  return awake(
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

/** A kept session, in the place where it goes on. */
export function awake(kept: KeptSession, cwd: string, mcpServers: readonly McpServer[]): DemoSession {
  return { ...kept, cwd, mcpServers, standing: new Map(), running: undefined }
}

export function forkOf(source: KeptSession, cwd: string, mcpServers: readonly McpServer[]): DemoSession {
  const copy = structuredClone(toKept(source))
  return awake({ ...copy, id: `demo-${randomUUID()}`, updatedAt: new Date().toISOString() }, cwd, mcpServers)
}

export function toKept(session: KeptSession): KeptSession {
  const { id, cwd, mode, choices, title, updatedAt, tokens, history } = session
  return { id, cwd, mode, choices, title, updatedAt, tokens, history }
}
