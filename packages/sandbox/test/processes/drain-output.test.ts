import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { drainOutput } from '../../src/processes/drain-output.ts'

/** Longer than the silence after which output counts as complete. */
const pauseMs = 30

interface Drained {
  readonly how: string
  readonly bytes: number
}

/** Runs a program and reads its output. A slow reader pauses after each chunk, and goes on as late as a check can see it. */
async function drained(script: string, reader: 'quick' | 'slow'): Promise<Drained> {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  onTestFinished(() => killGroup(child))
  const { stdout } = child
  let bytes = 0
  let behindSince: number | undefined
  stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (reader === 'quick') return
    behindSince = performance.now()
    stdout.pause()
  })
  const catchUp = () => {
    if (behindSince === undefined || performance.now() - behindSince < pauseMs) return
    behindSince = undefined
    stdout.resume()
  }
  const exited = once(child, 'exit')
  const reading = setInterval(catchUp, pauseMs)
  await exited
  clearInterval(reading)
  const closed = stdout.closed ? Promise.resolve() : once(stdout, 'close')
  const how = await drainOutput(closed, () => {
    catchUp()
    return { bytes, behind: behindSince !== undefined }
  })
  return { how, bytes }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL')
  } catch {
    // The group has exited.
  }
}

describe('drainOutput', () => {
  it('reads everything although the reader is slow', async () => {
    expect(await drained('head -c 300000 /dev/zero', 'slow')).toEqual({ how: 'closed', bytes: 300_000 })
  })

  it.each(['sleep 60', 'while :; do sleep 0.002; echo more; done', 'yes'])(
    'does not wait for "%s", which keeps the pipe open, but reads what the program wrote before it',
    async (holder) => {
      const { how, bytes } = await drained(`head -c 50000 /dev/zero; { ${holder}; } & exit 0`, 'quick')
      expect(how).toBe('held')
      expect(bytes).toBeGreaterThanOrEqual(50_000)
    },
  )
})
