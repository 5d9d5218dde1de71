import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  type ClientApp,
  type ClientCapabilities,
  type ClientConnection,
  type ContentBlock,
  client,
  type InitializeResponse,
  type McpServer,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/unstable'

export const main = fileURLToPath(new URL('../../src/demo/main.ts', import.meta.url))
export const nodeFlags = ['--disable-warning=ExperimentalWarning']

export interface StartOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly home?: string
  readonly capabilities?: ClientCapabilities
  /** Adds handlers to the client. */
  readonly with?: (app: ClientApp) => unknown
  /** The option that every permission request is answered with; `hang` never answers. */
  readonly permission?: 'allow' | 'allow-always' | 'reject' | 'reject-always' | 'cancelled' | 'hang'
}

/** The demo agent as a process, and a client that stores all messages of the agent. */
export class DemoProcess {
  readonly child: ChildProcessWithoutNullStreams
  readonly connection: ClientConnection
  readonly initialized: InitializeResponse
  readonly notifications: SessionNotification[]
  readonly permissions: RequestPermissionRequest[]
  readonly #raw: Buffer[]
  readonly #errors: string[]

  constructor(
    parts: Pick<DemoProcess, 'child' | 'connection' | 'initialized' | 'notifications' | 'permissions'> & {
      raw: Buffer[]
      errors: string[]
    },
  ) {
    this.child = parts.child
    this.connection = parts.connection
    this.initialized = parts.initialized
    this.notifications = parts.notifications
    this.permissions = parts.permissions
    this.#raw = parts.raw
    this.#errors = parts.errors
  }

  get agent() {
    return this.connection.agent
  }

  /** The raw bytes of stdout. */
  get raw(): Buffer {
    return Buffer.concat(this.#raw)
  }

  get stderr(): string {
    return this.#errors.join('')
  }

  async session(cwd: string, mcpServers: McpServer[] = []): Promise<string> {
    return (await this.agent.request('session/new', { cwd, mcpServers })).sessionId
  }

  prompt(sessionId: string, prompt: string | ContentBlock[]): Promise<PromptResponse> {
    const blocks = typeof prompt === 'string' ? [{ type: 'text' as const, text: prompt }] : prompt
    return this.agent.request('session/prompt', { sessionId, prompt: blocks })
  }

  updates(sessionId: string): SessionUpdate[] {
    return this.notifications.filter((one) => one.sessionId === sessionId).map(({ update }) => update)
  }

  of<Kind extends SessionUpdate['sessionUpdate']>(sessionId: string, kind: Kind) {
    return this.updates(sessionId).filter(
      (update): update is Extract<SessionUpdate, { sessionUpdate: Kind }> => update.sessionUpdate === kind,
    )
  }

  /** All message text of the agent in a session. */
  text(sessionId: string): string {
    return this.of(sessionId, 'agent_message_chunk')
      .map(({ content }) => (content.type === 'text' ? content.text : ''))
      .join('')
  }

  /** Resolves when the session has an update that matches. */
  async until(sessionId: string, is: (update: SessionUpdate) => boolean): Promise<void> {
    while (!this.updates(sessionId).some(is)) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async exit(): Promise<{ code: number | null; signal: string | null }> {
    const { child } = this
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    return { code: child.exitCode, signal: child.signalCode }
  }
}

/** Starts demo agents in temporary folders, and stops them in `clear`. */
export class DemoProcesses {
  readonly #folders: string[] = []
  readonly #children: ChildProcessWithoutNullStreams[] = []

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'vitrine-demo-'))
    this.#folders.push(folder)
    return folder
  }

  spawn(options: Pick<StartOptions, 'env' | 'home'> = {}): ChildProcessWithoutNullStreams {
    const { NODE_OPTIONS: _, ...inherited } = process.env
    const child = spawn(process.execPath, [...nodeFlags, main], {
      env: { ...inherited, HOME: options.home ?? this.folder(), VITRINE_DEMO_PACE: '0', ...options.env },
    })
    child.stdin.on('error', () => {})
    this.#children.push(child)
    return child
  }

  async start(options: StartOptions = {}): Promise<DemoProcess> {
    const child = this.spawn(options)
    const raw: Buffer[] = []
    const errors: string[] = []
    const notifications: SessionNotification[] = []
    const permissions: RequestPermissionRequest[] = []
    child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text))
    const tee = new PassThrough()
    child.stdout.on('data', (bytes: Buffer) => raw.push(bytes)).pipe(tee)
    const app = client({ name: 'test' })
      .onNotification('session/update', ({ params }) => {
        notifications.push(params)
      })
      .onRequest('session/request_permission', async ({ params }) => {
        permissions.push(params)
        if (options.permission === 'hang') return new Promise<never>(() => {})
        if (options.permission === 'cancelled') return { outcome: { outcome: 'cancelled' } }
        return { outcome: { outcome: 'selected', optionId: options.permission ?? 'allow' } }
      })
    options.with?.(app)
    const connection = app.connect(
      ndJsonStream(
        Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
        Readable.toWeb(tee) as ReadableStream<Uint8Array>,
      ),
    )
    const initialized = await connection.agent.request('initialize', {
      protocolVersion: 1,
      clientCapabilities: options.capabilities ?? {},
    })
    return new DemoProcess({ child, connection, initialized, notifications, permissions, raw, errors })
  }

  async clear(): Promise<void> {
    for (const child of this.#children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'close')
    }
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  }
}
