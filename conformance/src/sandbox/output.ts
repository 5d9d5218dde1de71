import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { numbers } from '../events/coverage.ts'
import { allEvents, exitsOf, processOf, recordedOutput } from './events.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from './kit.ts'

export function outputCases(make: MakeSandbox): void {
  describe('output', () => {
    const shared = sharedSandbox(make)

    it('joins characters that were split over chunks', async () => {
      const { sandbox } = await shared()
      const { stdout, truncated } = await sandbox.exec(
        `awk 'BEGIN { for (i = 0; i < 400000; i++) printf "é€" }'`,
        { maxOutputBytes: 4_000_000 },
      )
      expect(truncated).toBe(false)
      expect(stdout.length).toBe(800_000)
      expect(stdout.replaceAll('é€', '')).toBe('')
    })

    it('does not split characters where output is truncated', async () => {
      const { sandbox } = await shared()
      for (const maxOutputBytes of [1_000, 1_001, 1_002, 1_003]) {
        const { stdout, truncated } = await sandbox.exec(
          `awk 'BEGIN { for (i = 0; i < 4000; i++) printf "é€😀" }'`,
          { maxOutputBytes },
        )
        expect(truncated).toBe(true)
        expect(stdout).not.toContain('\ufffd')
      }
    })

    it('records binary output byte for byte', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.exec('head -c 300000 /dev/urandom | tee random')
      const wanted = (await sandbox.exec('sha256sum < random')).stdout.slice(0, 64)
      const events = await allEvents(journal)
      const { bytes, skipped } = recordedOutput(events, processOf(events))
      expect(skipped).toBe(0)
      expect(bytes.length).toBe(300_000)
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(wanted)
    })

    it('truncates a line of 10 MB to its head, its tail, and the number of missing bytes', async () => {
      const { sandbox } = await shared()
      const { stdout, truncated, outcome } = await sandbox.exec(
        `printf HEAD; head -c 10000000 /dev/zero | tr '\\0' x; printf TAIL`,
      )
      expect({ outcome, truncated }).toEqual({ outcome: 'ok', truncated: true })
      expect(stdout.length).toBeLessThan(1_100_000)
      expect(stdout.startsWith('HEADxxxx')).toBe(true)
      expect(stdout.endsWith('xxxxTAIL')).toBe(true)
      const missing = [...stdout.matchAll(/\d+/g)].map(([number]) => Number(number))
      const present = [...stdout].filter((character) => 'xHEADTIL'.includes(character)).length
      expect(missing.some((number) => Math.abs(number + present - 10_000_008) < 16)).toBe(true)
    })

    it('returns up to `maxOutputBytes` of each stream', async () => {
      const { sandbox } = await shared()
      const flood = `head -c 50000 /dev/zero | tr '\\0' o; head -c 50000 /dev/zero | tr '\\0' e >&2`
      const cut = await sandbox.exec(flood, { maxOutputBytes: 10_000 })
      expect(cut.truncated).toBe(true)
      expect(cut.stdout.replaceAll(/[^o]/g, '').length).toBeGreaterThan(9_900)
      expect(cut.stderr.replaceAll(/[^e]/g, '').length).toBeGreaterThan(9_900)
      expect(cut.stdout.length + cut.stderr.length).toBeLessThan(20_200)
      const whole = await sandbox.exec(flood, { maxOutputBytes: 50_000 })
      expect(whole).toMatchObject({
        truncated: false,
        stdout: 'o'.repeat(50_000),
        stderr: 'e'.repeat(50_000),
      })
    })

    it('separates standard output and standard error', async () => {
      const { sandbox } = await shared()
      const { stdout, stderr } = await sandbox.exec(
        'i=0; while [ $i -lt 500 ]; do echo out$i; echo err$i >&2; i=$((i+1)); done',
      )
      expect(stdout).toBe(
        numbers(0, 499)
          .map((one) => `out${one}\n`)
          .join(''),
      )
      expect(stderr).toBe(
        numbers(0, 499)
          .map((one) => `err${one}\n`)
          .join(''),
      )
    })

    it('reads all output that a program wrote just before it exited, also on a busy host', async () => {
      const { sandbox } = await shared()
      const running = Promise.all(
        numbers(1, 20).map(() => sandbox.exec(`head -c 200000 /dev/zero | tr '\\0' x; echo END`)),
      )
      // Blocks the event loop repeatedly, for longer than the reader waits for output after an exit.
      const busy = setInterval(() => {
        for (const until = performance.now() + 60; performance.now() < until; );
      }, 5)
      const results = await running.finally(() => clearInterval(busy))
      expect(results.map(({ stdout }) => stdout.length)).toEqual(results.map(() => 200_004))
    })

    it('returns and records the complete output with a slow journal', async () => {
      const { sandbox, journal } = await newSandbox(make, { commitMs: 25 })
      const { outcome, stdout } = await sandbox.exec('seq 1 400000', { maxOutputBytes: 4_000_000 })
      const whole = numbers(1, 400_000)
        .map((one) => `${one}\n`)
        .join('')
      expect(outcome).toBe('ok')
      expect(stdout === whole).toBe(true)
      const events = await allEvents(journal)
      expect(recordedOutput(events, processOf(events)).bytes.toString() === whole).toBe(true)
    })

    it('does not buffer a flood of output in memory with a slow journal', async () => {
      const { sandbox, journal } = await newSandbox(make, { commitMs: 25 })
      const before = process.memoryUsage().arrayBuffers
      let most = before
      const sampling = setInterval(() => {
        most = Math.max(most, process.memoryUsage().arrayBuffers)
      }, 5)
      const { outcome, truncated } = await sandbox.exec('head -c 200000000 /dev/zero')
      clearInterval(sampling)
      expect({ outcome, truncated }).toEqual({ outcome: 'ok', truncated: true })
      expect(most - before).toBeLessThan(150_000_000)
      const events = await allEvents(journal, { types: ['operation.*', 'process.started', 'process.exited'] })
      expect(exitsOf(events, processOf(events))[0]?.data).toMatchObject({ outcome: 'ok', bytes: 200_000_000 })
    })

    it('returns to each of a hundred concurrent commands its own output', async () => {
      const { sandbox } = await shared()
      const results = await Promise.all(
        numbers(1, 100).map((one) => sandbox.exec(`echo out ${one}; echo err ${one} >&2; exit ${one}`)),
      )
      for (const [index, result] of results.entries())
        expect(result).toMatchObject({
          exitCode: index + 1,
          stdout: `out ${index + 1}\n`,
          stderr: `err ${index + 1}\n`,
        })
    })
  })
}
