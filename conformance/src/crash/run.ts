import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonlSink, openStore, sqliteStore } from '@vitrine/journal'
import type { JournalItem } from '@vitrine/protocol'
import { type CheckResult, check } from './check.ts'
import { OutsideReader } from './outside-reader.ts'
import { between, randomFrom } from './random.ts'
import type { Report } from './report.ts'
import { WriterProcess } from './writer-process.ts'

export interface CrashTestOptions {
  /** How often a writer is killed and its store checked. */
  readonly times: number
  /** Repeats the same delays and load; the scheduling of the processes still differs. */
  readonly seed?: number
  /** The number of rounds per store; default 5. */
  readonly roundsPerStore?: number
  readonly onProgress?: (round: CrashRound) => void
}

export interface CrashRound {
  readonly round: number
  /** Events in the store when it was checked. */
  readonly events: number
  /** Reports received before the kill. */
  readonly reports: number
  /** Events that a reader in this process got while the writer ran. */
  readonly seenOutside: number
  /** `journal.recovered` events in the store. */
  readonly recoveries: number
  readonly violations: readonly string[]
}

export interface CrashReport {
  readonly seed: number
  readonly rounds: number
  readonly kills: number
  readonly events: number
  readonly reports: number
  readonly seenOutside: number
  readonly recoveries: number
  readonly violations: readonly string[]
}

/**
 * Repeatedly kills a writer with SIGKILL, reopens its store, and compares its contents with everything that was
 * observed before the kill.
 *
 * @example
 * const { violations } = await crashTest({ times: 20 })
 */
export async function crashTest(options: CrashTestOptions): Promise<CrashReport> {
  const { times, seed = Date.now() % 2 ** 31, roundsPerStore = 5, onProgress } = options
  const random = randomFrom(seed)
  const total = { rounds: 0, kills: 0, events: 0, reports: 0, seenOutside: 0, recoveries: 0 }
  const violations: string[] = []
  while (total.rounds < times) {
    const folder = await mkdtemp(join(tmpdir(), 'vitrine-crash-'))
    try {
      const store = new CrashedStore(folder)
      for (let round = 0; round < roundsPerStore && total.rounds < times; round += 1) {
        // Kill some writers while they create, open or recover the store.
        for (let early = between(random, 0, 2); early > 1; early -= 1) {
          const unexpectedExit = await store.killEarly(between(random, 0, 400), between(random, 1, 2 ** 30))
          total.kills += 1
          if (unexpectedExit !== undefined)
            violations.push(`before round ${total.rounds + 1}: ${unexpectedExit}`)
        }
        const result = await store.round(between(random, 20, 400), between(random, 1, 2 ** 30))
        total.rounds += 1
        total.kills += 1
        total.reports += result.reports
        total.seenOutside += result.seenOutside
        if (round === roundsPerStore - 1 || total.rounds === times) {
          total.events += result.events
          total.recoveries += result.recoveries
        }
        violations.push(...result.violations.map((violation) => `round ${total.rounds}: ${violation}`))
        onProgress?.({ round: total.rounds, ...result })
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return { seed, ...total, violations }
}

/** One store and all reports about it. */
class CrashedStore {
  readonly #path: string
  readonly #jsonlPath: string
  readonly #reports: Report[] = []

  constructor(folder: string) {
    this.#path = join(folder, 'journal.db')
    this.#jsonlPath = join(folder, 'audit.jsonl')
  }

  /** Returns a message if the writer exited before it was killed. */
  async killEarly(milliseconds: number, seed: number): Promise<string | undefined> {
    const writer = new WriterProcess(this.#path, this.#jsonlPath, seed)
    await writer.killAfter(milliseconds)
    this.#reports.push(...writer.reports)
    return writer.unexpectedExit
  }

  async round(milliseconds: number, seed: number): Promise<Omit<CrashRound, 'round'>> {
    const child = new WriterProcess(this.#path, this.#jsonlPath, seed)
    let seen: readonly JournalItem[] = []
    const faults: string[] = []
    try {
      await child.started()
      const reader = new OutsideReader(this.#path)
      await child.killAfter(milliseconds)
      seen = await reader.stop()
    } catch (error) {
      faults.push(String(error))
    } finally {
      await child.killAfter(0)
    }
    const { reports, unexpectedExit: complaint } = child
    this.#reports.push(...reports)
    if (complaint !== undefined) faults.push(complaint)
    const checkResult = await this.#check(seen).catch((error: unknown) => {
      return {
        events: 0,
        recoveries: 0,
        violations: [`the store cannot be reopened and read: ${String(error)}`],
      }
    })
    const violations = [...faults, ...checkResult.violations]
    return { ...checkResult, reports: reports.length, seenOutside: seen.length, violations }
  }

  async #check(outside: readonly JournalItem[]): Promise<CheckResult> {
    await using store = await openStore(sqliteStore({ path: this.#path }))
    const sink = jsonlSink({ path: this.#jsonlPath, maxBytes: Number.MAX_SAFE_INTEGER })
    await store.addSink('jsonl', sink)
    await store.flush({ timeoutMs: 60_000 })
    return await check(store, this.#jsonlPath, { reports: this.#reports, outside })
  }
}
