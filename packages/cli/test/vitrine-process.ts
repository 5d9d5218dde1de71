import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
/** A new data directory that is removed after the test. */
export function dataFolder(): string {
  const path = mkdtempSync('/var/tmp/vitrine-cli-')
  // A host that runs as root starts agents as another user, who needs to traverse this directory.
  chmodSync(path, 0o711)
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Flags for Node itself. */
  readonly node?: readonly string[]
}

/** Runs the command as a user would, in a directory that has nothing to do with it. It ends with the test. */
export function vitrine(args: readonly string[], options: RunOptions = {}): VitrineProcess {
  const one = new VitrineProcess(args, options)
  onTestFinished(() => one.end())
  return one
}

export class VitrineProcess {
  stdout = ''
  stderr = ''
  readonly #child: ChildProcessWithoutNullStreams
  readonly #closed: Promise<unknown>

  constructor(args: readonly string[], { env = {}, node = [] }: RunOptions) {
    const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning', ...node]
    this.#child = spawn(process.execPath, [...flags, main, ...args], {
      cwd: '/',
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', ...env },
    })
    this.#closed = once(this.#child, 'close')
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Waits until stdout matches; throws with the whole output if the command ends first. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.stdout)
      if (found !== null) return found
      const closed = await Promise.race([
        once(this.#child.stdout, 'data').then(() => false),
        this.#closed.then(() => true),
      ])
      if (closed && !pattern.test(this.stdout))
        throw new Error(`The command ended: ${this.stdout}${this.stderr}`)
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Waits for the command to end and returns its exit status. */
  async exit(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    await this.#closed
    return { code: this.#child.exitCode, signal: this.#child.signalCode }
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGTERM')
    await this.#closed
  }
}

export interface TestDaemon {
  readonly url: string
  readonly token: string
  readonly data: string
  readonly process: VitrineProcess
  fetch(path: string, init?: RequestInit): Promise<Response>
  read<T>(path: string): Promise<T>
}

/** Starts `vitrine serve` and waits until it listens. */
export async function serve(
  data: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<TestDaemon> {
  const all = ['serve', '--json', '--port', '0', '--isolation', 'none', '--data', data, ...args]
  const process = vitrine(all, options)
  const [line] = await process.says(/^.*\n/)
  const { url, token, ...rest } = JSON.parse(line)
  expect(rest).toEqual({ data })
  const request = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    if (!headers.has('authorization') && token !== undefined) headers.set('authorization', `Bearer ${token}`)
    return fetch(`${url}${path}`, { ...init, headers })
  }
  return {
    ...{ url, token, data, process },
    fetch: request,
    // The caller knows the shape of the response.
    read: async <T>(path: string) => (await (await request(path)).json()) as T,
  }
}

/** Runs a command in the default sandbox. */
export function exec(daemon: Pick<TestDaemon, 'fetch'>, command: string, headers = {}): Promise<Response> {
  return daemon.fetch('/v1/exec', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ command }),
  })
}
