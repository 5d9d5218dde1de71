import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { commandPolicy, type LocalSandbox, processMark } from '../../src/index.ts'
import { openSandbox } from '../fixtures/sandbox.ts'

describe.each(['none', 'bubblewrap'] as const)('a piped program, isolation %s', (isolation) => {
  it('gives stdout to its caller and records only stderr in the journal', async () => {
    const sandbox = await openSandbox({ isolation })
    const errors: Buffer[] = []
    const program = await sandbox.spawnPiped(['sh', '-c', 'echo aside >&2; cat'], {
      onStderr: (chunk) => errors.push(Buffer.from(chunk)),
    })
    program.stdin.end('to whoever asked\n')
    expect(await text(program.stdout)).toBe('to whoever asked\n')
    expect(await program.exit).toEqual({ outcome: 'ok', exitCode: 0, signal: null })
    expect(Buffer.concat(errors).toString()).toBe('aside\n')
    const { events } = await sandbox.journal.read({ types: ['process.output'] })
    expect(events.map((event) => event.data)).toMatchObject([{ stream: 'stderr', data: 'aside\n' }])
  })

  it('blocks while its caller does not read', async () => {
    const sandbox = await openSandbox({ isolation })
    const program = await sandbox.spawnPiped(['sh', '-c', 'head -c 20000000 /dev/zero; echo written >&2'])
    await sleep(300)
    expect(await sandbox.processes.logs(program.id)).toEqual([])
    let bytes = 0
    for await (const chunk of program.stdout) bytes += (chunk as Buffer).length
    expect(bytes).toBe(20_000_000)
    await program.exit
  })

  it('killStartedAfter kills only the descendants started after the mark', async () => {
    const sandbox = await openSandbox({ isolation })
    const script = 'sleep 1000 & echo $!; read line; setsid sleep 1000 & echo $!; read line; wait'
    const program = await sandbox.spawnPiped(['sh', '-c', script])
    const lines = program.stdout[Symbol.asyncIterator]()
    const first = await numberOf(lines)
    // The kernel's start times have a resolution of 10 ms.
    await sleep(30)
    const mark = processMark()
    program.stdin.write('\n')
    const second = await numberOf(lines)
    const alive = (pid: number) => isAlive(sandbox, pid)
    expect([await alive(first), await alive(second)]).toEqual([true, true])
    expect(program.killStartedAfter(mark)).toBe(1)
    await expect.poll(() => alive(second)).toBe(false)
    expect([await alive(first), await alive(program.pid)]).toEqual([true, true])
    await program.kill()
  })

  it('endTree kills the processes that were left after its exit', async () => {
    const sandbox = await openSandbox({ isolation })
    const program = await sandbox.spawnPiped(['sh', '-c', 'setsid sleep 1000 >/dev/null 2>&1 & echo $!'])
    const left = await numberOf(program.stdout[Symbol.asyncIterator]())
    await program.exit
    await program.endTree()
    expect(await isAlive(sandbox, left)).toBe(false)
  })

  it('the policy does not judge the program itself', async () => {
    const sandbox = await openSandbox({ isolation }, { policy: commandPolicy({ deny: ['cat'] }) })
    await expect(sandbox.exec('cat /dev/null')).rejects.toMatchObject({ code: 'gate_refused' })
    const program = await sandbox.spawnPiped(['cat'])
    await program.kill()
  })
})

async function numberOf(lines: AsyncIterator<unknown>): Promise<number> {
  const { value } = await lines.next()
  return Number(String(value).trim())
}

/** Whether a process runs; a zombie does not. */
async function isAlive(sandbox: LocalSandbox, pid: number): Promise<boolean> {
  const { exitCode } = await sandbox.exec(`grep -q '^State:[[:space:]]*[RSD]' /proc/${pid}/status`)
  return exitCode === 0
}
