import { expect } from 'vitest'
import type { SandboxUnderTest, TestedSandbox } from '../kit.ts'
import { changesOf } from '../watching/changes.ts'

interface Entry {
  readonly path: string
  readonly kind: string
  readonly mode: string
  readonly size: string
  /** In microseconds. */
  readonly time: string
  readonly target: string
  readonly inode: string
}

/** Lists the root and everything below it. Names are read as latin1, so every byte is kept. */
export async function entriesOf(sandbox: TestedSandbox, path = '.'): Promise<Entry[]> {
  const format = ['%P', '%y', '%m', '%s', '%T@', '%l', '%i'].join('\\0')
  const fields = (await bytesOf(sandbox, `find ${path} -printf '${format}\\0'`))
    .toString('latin1')
    .split('\0')
  const entries: Entry[] = []
  for (let at = 0; at + 7 <= fields.length; at += 7) {
    const [name, kind, mode, size, time, target, inode] = fields.slice(at, at + 7) as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    entries.push({
      path: name,
      kind,
      mode: kind === 'l' ? '' : mode,
      size: kind === 'd' ? '' : size,
      time: microseconds(time),
      target,
      inode,
    })
  }
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Everything that an archive preserves of a tree, one line per name. */
export async function manifestOf(sandbox: TestedSandbox, path = '.'): Promise<string[]> {
  const entries = await entriesOf(sandbox, path)
  const sums = await sumsOf(sandbox, path)
  const firsts = new Map<string, string>()
  return entries.map((entry) => {
    const first = entry.kind === 'd' ? undefined : firsts.get(entry.inode)
    if (first === undefined) firsts.set(entry.inode, entry.path)
    const { kind, mode, size, time, target } = entry
    return [
      JSON.stringify(entry.path),
      kind,
      mode,
      size,
      time,
      target,
      sums.get(entry.path) ?? '',
      first === undefined ? '' : `= ${first}`,
    ].join(' ')
  })
}

/** Fails if a refused call changes the workspace or records a change. */
export async function changesNothing(
  under: SandboxUnderTest,
  what: string,
  call: () => Promise<unknown>,
): Promise<void> {
  const before = await stateOf(under)
  await call()
  expect(await stateOf(under), what).toEqual(before)
}

async function stateOf(under: SandboxUnderTest): Promise<unknown> {
  const sums = await sumsOf(under.sandbox, '.')
  const changes = under.sandbox.capabilities.watching === 'none' ? 0 : (await changesOf(under)).length
  return { changes, entries: await entriesOf(under.sandbox), sums: [...sums] }
}

async function sumsOf(sandbox: TestedSandbox, path: string): Promise<Map<string, string>> {
  const lines = await bytesOf(
    sandbox,
    `cd ${path} && find . -type f -size -9000k -print0 | sort -z | xargs -0 -r sha256sum -z`,
  )
  const sums = new Map<string, string>()
  for (const line of lines.toString('latin1').split('\0'))
    if (line !== '') sums.set(line.slice(68), line.slice(0, 16))
  return sums
}

async function bytesOf(sandbox: TestedSandbox, command: string): Promise<Buffer> {
  const { stdout, stderr, exitCode } = await sandbox.exec(`(${command}) | base64 -w0`, {
    maxOutputBytes: 50_000_000,
  })
  expect([exitCode, stderr]).toEqual([0, ''])
  return Buffer.from(stdout, 'base64')
}

function microseconds(time: string): string {
  const [seconds = '0', fraction = ''] = time.split('.')
  const nanoseconds = BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9))
  return String((nanoseconds + 500n) / 1_000n)
}
