import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { jsonlSink } from '@vitrine/journal'
import { readPages } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { dataFolder, open } from './fixtures/data.ts'

const script = fileURLToPath(new URL('./fixtures/doomed-secrets.ts', import.meta.url))
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
const loginPath = '.config/cursor/auth.json'

interface Doomed {
  readonly data: string
  /** The login file in HOME, as the host sees it. */
  readonly login: string
  /** Every value that was registered. */
  readonly values: readonly string[]
}

/** Runs a host that registers secrets and gives an agent a login file, and kills it. */
async function killedHost(isolation: 'none' | 'bubblewrap'): Promise<Doomed> {
  const data = dataFolder()
  const secret = `hush-${randomBytes(12).toString('hex')}`
  const tools = join(data, 'tools')
  mkdirSync(tools, { mode: 0o755 })
  writeFileSync(join(tools, 'cursor-agent'), '#!/bin/sh\nexec sleep 31338\n')
  chmodSync(join(tools, 'cursor-agent'), 0o755)
  const home = join(data, 'hosts-home')
  mkdirSync(join(home, '.config', 'cursor'), { recursive: true, mode: 0o700 })
  writeFileSync(join(home, loginPath), JSON.stringify({ accessToken: `${secret}-login` }), { mode: 0o600 })
  const host = spawn(process.execPath, [...flags, script, data, isolation, secret], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, HOME: home },
  })
  const login = join(data, 'sandboxes', 'keyed', 'home', loginPath)
  await expect
    .poll(() => existsSync(join(data, 'registered')) && existsSync(login), { timeout: 30_000 })
    .toBe(true)
  host.kill('SIGKILL')
  await once(host, 'exit')
  return { data, login, values: ['host', 'agent', 'mcp', 'login'].map((kind) => `${secret}-${kind}`) }
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** The forms in which a text or a key could be in a file. */
function formsOf(value: string | Buffer): Buffer[] {
  const bytes = Buffer.from(value)
  return [bytes, Buffer.from(bytes.toString('base64').slice(0, 24)), Buffer.from(bytes.toString('hex'))]
}

describe.each(['none', 'bubblewrap'] as const)('after kill -9 of the host, %s', (isolation) => {
  it('a login file is gone before the first command of the next start', async () => {
    const { data, login } = await killedHost(isolation)
    const next = await open(data)
    // Looking starts nothing, and changes nothing.
    expect(existsSync(login)).toBe(true)
    const sandbox = await next.attach('keyed')
    expect(existsSync(login)).toBe(false)
    const look = await sandbox.exec(`cat "$HOME/${loginPath}"; cat "$HOME/.config/mine"`)
    expect(look).toMatchObject({ stdout: 'kept\n', stderr: expect.stringContaining('auth.json') })
    const ops: string[] = []
    for await (const { events } of readPages(sandbox.journal, { types: ['operation.started'] }))
      for (const event of events) if ('seq' in event) ops.push(String(event.data.op))
    const since = ops.slice(ops.lastIndexOf('start'))
    expect(since.indexOf('clean_home')).toBeGreaterThan(0)
    expect(since.indexOf('clean_home')).toBeLessThan(since.indexOf('build_machine'))
  })

  it('a login file is gone with a sandbox that is destroyed without a start', async () => {
    const { data, login, values } = await killedHost(isolation)
    const next = await open(data)
    await next.destroy('keyed')
    expect(existsSync(login)).toBe(false)
    // The secrets of the sandbox are forgotten with it; that of the host is not.
    await next.close()
    const last = await open(data)
    const journal = await last.store.journal('sbx_other')
    const message = values.join(' ')
    const [event] = await journal.append([{ type: 'log.message', data: { level: 'info', message } }])
    expect(event?.data.message).toBe(`[redacted:HOST_KEY] ${values.slice(1).join(' ')}`)
  })

  it('a secret registered before is masked in events, blobs, sinks and exports', async () => {
    const { data, values } = await killedHost(isolation)
    const next = await open(data)
    const audit = join(data, 'audit.jsonl')
    await next.store.addSink('audit', jsonlSink({ path: audit }))
    const sandbox = await next.attach('keyed')
    const all = values.join(' ')
    await sandbox.exec(`echo ${all}; echo ${all} >&2`)
    await sandbox.exec(['sh', '-c', 'cat; head -c 200000 /dev/zero | tr "\\0" x', 'sh', all], { stdin: all })
    await sandbox.files.write('leak.txt', all)
    await sandbox.record([{ type: 'log.message', data: { level: 'info', message: all } }])
    const { blob } = await next.store.putBlob(Buffer.from(all))
    const content = await new Response((await next.store.getBlob(blob)).stream).text()
    await next.store.flush()
    const journal = await next.store.journal('keyed')
    const exported = JSON.stringify(await journal.export({ limit: 10_000 }))
    const masked = [content, readFileSync(audit, 'utf8'), exported]
    expect(exported).toContain('[redacted:HOST_KEY]')
    for (const text of masked) for (const value of values) expect(text).not.toContain(value)
    await next.close()
    for (const file of filesBelow(join(data, 'store'))) {
      const bytes = readFileSync(file)
      for (const value of values) expect([file, bytes.includes(value)]).toEqual([file, false])
    }
  })

  it('the key is in one file, of mode 0600, and in nothing that is exported', async () => {
    const { data, values } = await killedHost(isolation)
    const next = await open(data)
    const audit = join(data, 'audit.jsonl')
    await next.store.addSink('audit', jsonlSink({ path: audit }), { from: 'start' })
    const sandbox = await next.attach('keyed')
    await sandbox.exec('echo work > file.txt')
    const tar = Buffer.from(await new Response(await sandbox.persist()).bytes())
    const archive = Buffer.from(await new Response(await sandbox.files.download('.')).bytes())
    await next.store.flush()
    const exported: string[] = []
    for (const id of await next.store.journals())
      exported.push(JSON.stringify(await (await next.store.journal(id)).export({ limit: 10_000 })))
    await next.close()
    const keyPath = join(data, 'keys', 'secrets.key')
    const key = readFileSync(keyPath)
    const outputs = [tar, archive, ...exported.map((text) => Buffer.from(text)), readFileSync(audit)]
    for (const form of formsOf(key)) {
      for (const output of outputs) expect(output.includes(form)).toBe(false)
      const files = filesBelow(data).filter((file) => readFileSync(file).includes(form))
      expect(files).toEqual(form.equals(key) ? [keyPath] : [])
    }
    // No file of the host has a value in plain text: not the encrypted file, not the records.
    const plain = filesBelow(data).filter(
      (file) =>
        !/\/(hosts-home|sandboxes)\//.test(file) &&
        values.some((value) => readFileSync(file).includes(value)),
    )
    expect(plain).toEqual([])
  })
})

it('a host whose key is lost does not start without masking, unless told to forget', async () => {
  const data = dataFolder()
  const first = await open(data)
  first.store.addSecret('TOKEN', 'hunter2-planted')
  await first.close()
  chmodSync(join(data, 'keys', 'secrets.key'), 0o644)
  await expect(open(data)).rejects.toMatchObject({ code: 'secrets_unreadable' })
  const next = await open(data, { forgetUnreadableSecrets: true })
  const { events } = await next.store.read({ types: ['log.message'] })
  expect(events).toMatchObject([{ journal: 'host', data: { level: 'warn' } }])
  await next.close()
  await open(data)
})
