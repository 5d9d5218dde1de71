import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Journal } from '@vitrine/journal'
import { newId } from '@vitrine/protocol'

interface ProgramEnd {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A folder whose every use is an operation of the journal. */
export interface Workplace {
  setUp(): Promise<void>
  write(path: string, text: string): Promise<void>
  read(path: string): Promise<string>
  list(path: string): Promise<readonly string[]>
  move(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  exec(argv: readonly string[]): Promise<ProgramEnd>
}

export function openWorkplace(journal: Journal, root: string): Workplace {
  const record = (type: string, data: { readonly [key: string]: unknown }) => journal.append([{ type, data }])
  const workplace: Workplace = {
    async setUp() {
      await journal.operate('start', { root }, async () => {
        await journal.operate('mkdir', { path: 'src' }, () => mkdir(join(root, 'src'), { recursive: true }))
        await workplace.write('README.md', '# A small project\n')
      })
    },
    async write(path, text) {
      await journal.operate('write', { path, bytes: Buffer.byteLength(text) }, async () => {
        const before = await stat(join(root, path)).catch(() => undefined)
        await writeFile(join(root, path), text)
        const type = before ? 'file.changed' : 'file.created'
        await record(type, { path, kind: 'file', size: Buffer.byteLength(text) })
      })
    },
    read: (path) =>
      journal.operate('read', { path }, () => readFile(join(root, path), 'utf8'), {
        finish: (text) => ({ bytes: Buffer.byteLength(text) }),
      }),
    list: (path) =>
      journal.operate('ls', { path }, () => readdir(join(root, path)), {
        finish: (names) => ({ entries: names.length }),
      }),
    async move(from, to) {
      await journal.operate('move', { path: from, target: to }, async () => {
        await rename(join(root, from), join(root, to))
        await record('file.moved', { path: to, previousPath: from, kind: 'file' })
      })
    },
    async remove(path) {
      await journal.operate('rm', { path }, async () => {
        await rm(join(root, path))
        await record('file.deleted', { path, kind: 'file' })
      })
    },
    exec: (argv) =>
      journal.operate('exec', { argv }, () => runProgram(journal, root, argv), {
        finish: (end) => ({ ...end }),
      }),
  }
  return workplace
}

/** A real process whose output and end are events. */
async function runProgram(journal: Journal, cwd: string, argv: readonly string[]): Promise<ProgramEnd> {
  const [command = '', ...args] = argv
  const id = newId('process')
  const child = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  })
  const end = () => child.kill('SIGKILL')
  process.prependOnceListener('exit', end)
  child.once('close', () => process.off('exit', end))
  const ended = new Promise<ProgramEnd>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  ended.catch(() => undefined)
  await journal.append([
    {
      type: 'process.started',
      data: { process: id, argv, ...(child.pid !== undefined && { pid: child.pid }) },
    },
  ])
  const output = journal.stream()
  let offset = 0
  const written: Promise<unknown>[] = []
  for await (const chunk of child.stdout) {
    const data = { process: id, stream: 'stdout', offset, data: chunk.toString('utf8'), encoding: 'utf8' }
    written.push(output.append([{ type: 'process.output', data }]))
    offset += chunk.byteLength
  }
  await output.end()
  await Promise.all(written)
  try {
    const end = await ended
    const outcome = end.exitCode === 0 ? 'ok' : 'failed'
    await journal.append([{ type: 'process.exited', data: { process: id, outcome, ...end } }])
    return end
  } catch (error) {
    await journal.append([
      { type: 'process.exited', data: { process: id, outcome: 'failed', exitCode: null, signal: null } },
    ])
    throw error
  }
}
