import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { scratchPrefix } from '../../src/running/in-child.ts'
import { type MeasurementOutcome, runBenchmarks } from '../../src/running/run-benchmarks.ts'
import { benchmarks, marks } from '../fixtures/benchmarks.ts'

const catalogue = new URL('../fixtures/benchmarks.ts', import.meta.url)

describe('a run of benchmarks', () => {
  const outcomes = new Map<string, MeasurementOutcome>()
  /** The marks of the processes seen during the measurements, and of those left after each one. */
  const seen = new Set<string>()
  const left = new Map<string, string[]>()

  beforeAll(async () => {
    const { signal } = new AbortController()
    const looking = setInterval(() => {
      for (const mark of marksNow()) seen.add(mark)
    }, 50)
    for await (const outcome of runBenchmarks({
      catalogue,
      benchmarks,
      names: ['wrong'],
      size: 'tiny',
      signal,
    })) {
      outcomes.set(outcome.measurement, outcome)
      left.set(outcome.measurement, marksNow())
    }
    clearInterval(looking)
  }, 180_000)

  it('ends a measurement that waits forever, with a reason that names it', () => {
    expect(outcomes.get('waits')).toMatchObject({
      rows: [],
      failure: 'wrong waits did not end within 15 s.',
    })
  })

  it('leaves no process of a measurement that it has ended, nor of its sandboxes', () => {
    expect([...seen].toSorted()).toEqual(Object.values(marks))
    expect(left.get('waits')).toEqual([])
  })

  it('ends a measurement that blocks its event loop, with a reason that names it', () => {
    expect(outcomes.get('blocks')).toMatchObject({ failure: 'wrong blocks did not end within 5 s.' })
  })

  it('reports why a measurement has failed', () => {
    expect(outcomes.get('throws')).toMatchObject({ failure: 'wrong throws failed: The disk is full.' })
    expect(outcomes.get('exits')).toMatchObject({
      failure: 'wrong exits failed: its process exited with 7 and without a result.',
    })
  })

  it('continues with the next measurement after a failed one, with the requested sizes', () => {
    expect(outcomes.get('works')).toEqual({
      benchmark: 'wrong',
      measurement: 'works',
      rows: [{ what: 'one, tiny', measured: '1', against: '', bar: '', holds: null }],
    })
  })

  it('removes the folders of all measurements', () => {
    const { dir, base } = parse(`${scratchPrefix}${process.pid}-`)
    expect(readdirSync(dir).filter((name) => name.startsWith(base))).toEqual([])
  })
})

function marksNow(): string[] {
  const running = commands()
  return Object.values(marks).filter((mark) => running.some((command) => command.includes(mark)))
}

function commands(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ')] : []
    } catch {
      return []
    }
  })
}
