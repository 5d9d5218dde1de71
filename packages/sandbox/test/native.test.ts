import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'

const native = fileURLToPath(new URL('../native/', import.meta.url))
const onLinux = process.platform === 'linux' && process.arch === 'x64'
const compilers = [
  ['x64', 'gcc'],
  ['arm64', 'aarch64-linux-gnu-gcc'],
] as const
/** The compiler version of the prebuilt programs: another version may generate other instructions. */
const compiler = '12.2.0'

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function versionOf(program: string): string {
  return isInstalled(program)
    ? spawnSync(program, ['-dumpfullversion'], { encoding: 'utf8' }).stdout.trim()
    : ''
}

const prebuilt = (arch: string) => join(native, `vitrine-machine-linux-${arch}`)

interface Ended {
  readonly code: unknown
  readonly signal: unknown
  readonly stdout: string
  /** The report about its start from descriptor 4. */
  readonly report: string
}

async function run(program: readonly string[], ...command: string[]): Promise<Ended> {
  const [file = '', ...args] = [...program, 'run', ...command]
  const child = spawn(file, args, {
    env: { PATH: '/usr/bin:/bin', WORD: 'given' },
    stdio: ['ignore', 'pipe', 'ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  const report = child.stdio[4]
  const [said, reported] = await Promise.all([
    text(child.stdout ?? Readable.from([])),
    text(report instanceof Readable ? report : Readable.from([])),
  ])
  const [code, signal] = await exited
  return { code, signal, stdout: said, report: reported }
}

/** Tests of the behaviour of a program, prebuilt or freshly built. */
function behaves(program: () => readonly string[]): void {
  it('exits with the code of its command', async () => {
    expect(await run(program(), '--', 'sh', '-c', 'exit 7')).toMatchObject({
      code: 7,
      signal: null,
      report: '',
    })
  })

  it('ends by the signal that ended its command', async () => {
    for (const name of ['TERM', 'KILL', 'INT', 'SEGV'])
      expect(await run(program(), '--', 'sh', '-c', `kill -${name} $$`)).toMatchObject({
        code: null,
        signal: `SIG${name}`,
      })
  })

  it('passes on the streams, the arguments, the variables and the folder', async () => {
    const { stdout } = await run(program(), 'cwd=/usr', '--', 'sh', '-c', 'echo "$WORD $1"; pwd', 'sh', 'a b')
    expect(stdout).toBe('given a b\n/usr\n')
  })

  it.each([
    ['a missing program', ['--', 'no-such-program'], 'exec 2 no-such-program\n'],
    ['a file that is not executable', ['--', '/etc/passwd'], 'exec 13 /etc/passwd\n'],
    ['a missing folder', ['cwd=/no/such', '--', 'true'], 'cwd 2 /no/such\n'],
    ['an unknown argument', ['wish=1', '--', 'true'], 'usage 22 wish=1\n'],
    ['no command', ['cwd=/'], 'usage 22 no command\n'],
  ])('reports why it could not start: %s', async (_name, command, report) => {
    expect(await run(program(), ...command)).toMatchObject({ code: 125, signal: null, report })
  })

  it('does not pass the report descriptor to its command', async () => {
    expect(await run(program(), '--', 'sh', '-c', 'echo x >&4 || echo closed')).toMatchObject({
      stdout: 'closed\n',
      report: '',
    })
  })
}

describe.runIf(onLinux)('the prebuilt program', () => {
  behaves(() => [prebuilt('x64')])
})

describe.runIf(onLinux && isInstalled('gcc'))('the program built from its source', () => {
  const folder = mkdtempSync('/var/tmp/vitrine-native-')

  beforeAll(() => {
    const { status, stderr } = spawnSync('sh', [join(native, 'build.sh'), folder], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    return () => rmSync(folder, { recursive: true, force: true })
  })

  for (const [arch, gcc] of compilers) {
    it.runIf(versionOf(gcc) === compiler)(`is byte for byte the prebuilt one for ${arch}`, () => {
      const built = readFileSync(join(folder, `vitrine-machine-linux-${arch}`))
      expect(built.equals(readFileSync(prebuilt(arch)))).toBe(true)
    })
  }

  behaves(() => [join(folder, 'vitrine-machine-linux-x64')])
})

describe.runIf(onLinux && isInstalled('qemu-aarch64-static'))('the prebuilt program for arm64', () => {
  const program = ['qemu-aarch64-static', prebuilt('arm64')]

  it('runs a command and exits with its status', async () => {
    expect(await run(program, '--', '/bin/true')).toMatchObject({ code: 0, signal: null, report: '' })
    expect(await run(program, '--', '/bin/sh', '-c', 'exit 7')).toMatchObject({ code: 7, signal: null })
  })

  it('reports why it could not start', async () => {
    expect(await run(program, '--', 'no-such-program')).toMatchObject({
      code: 125,
      report: 'exec 2 no-such-program\n',
    })
  })
})
