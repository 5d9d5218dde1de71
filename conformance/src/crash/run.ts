import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonlSink, openStore, sqliteStore } from '@vitrine/journal'
import type { JournalItem } from '@vitrine/protocol'
import { type Checked, check } from './check.ts'
import { Child } from './child.ts'
import { Outside } from './outside.ts'
import { between, randomFrom } from './random.ts'
import type { Report } from './report.ts'

export interface CrashTestOptions {
  /** How often a writer is killed and its store checked. */
  readonly times: number
  /** Repeats the same delays and the same load; what the processes make of it stays theirs. */
  readonly seed?: number
  /** How many rounds one store lives; default 5. */
  readonly roundsPerStore?: number
  readonly onProgress?: (round: CrashRound) => void
}

export interface CrashRound {
  readonly round: number
  /** Events in the store, when it was checked. */
  readonly events: number
  /** Reports that reached us before the kill. */
  readonly reports: number
  /** Events that a reader in this process was given while the writer lived. */
  readonly seenOutside: number
  /** Recoveries on record. */
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
 * Kills a writer with SIGKILL again and again, opens its store, and holds what is there against what anyone was shown.
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
      const life = new Life(folder)
      for (let round = 0; round < roundsPerStore && total.rounds < times; round += 1) {
        // Some die while they open the store, lay it out or recover it.
        for (let early = between(random, 0, 2); early > 1; early -= 1) {
          const complaint = await life.killEarly(between(random, 0, 400), between(random, 1, 2 ** 30))
          total.kills += 1
          if (complaint !== undefined) violations.push(`before round ${total.rounds + 1}: ${complaint}`)
        }
        const result = await life.round(between(random, 20, 400), between(random, 1, 2 ** 30))
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

/** One store and all that was ever told about it. */
class Life {
  readonly #path: string
  readonly #jsonlPath: string
  readonly #reports: Report[] = []

  constructor(folder: string) {
    this.#path = join(folder, 'journal.db')
    this.#jsonlPath = join(folder, 'audit.jsonl')
  }

  /** Why the writer had already ended by itself, where it had. */
  async killEarly(milliseconds: number, seed: number): Promise<string | undefined> {
    const child = new Child(this.#path, this.#jsonlPath, seed)
    await child.killAfter(milliseconds)
    this.#reports.push(...child.reports)
    return child.complaint
  }

  async round(milliseconds: number, seed: number): Promise<Omit<CrashRound, 'round'>> {
    const child = new Child(this.#path, this.#jsonlPath, seed)
    let seen: readonly JournalItem[] = []
    const faults: string[] = []
    try {
      await child.started()
      const reader = new Outside(this.#path)
      await child.killAfter(milliseconds)
      seen = await reader.leave()
    } catch (error) {
      faults.push(String(error))
    } finally {
      await child.killAfter(0)
    }
    const { reports, complaint } = child
    this.#reports.push(...reports)
    if (complaint !== undefined) faults.push(complaint)
    const checked = await this.#check(seen).catch((error: unknown) => {
      return {
        events: 0,
        recoveries: 0,
        violations: [`the store cannot be opened and read again: ${String(error)}`],
      }
    })
    const violations = [...faults, ...checked.violations]
    return { ...checked, reports: reports.length, seenOutside: seen.length, violations }
  }

  async #check(outside: readonly JournalItem[]): Promise<Checked> {
    await using store = await openStore(sqliteStore({ path: this.#path }))
    const sink = jsonlSink({ path: this.#jsonlPath, maxBytes: Number.MAX_SAFE_INTEGER })
    await store.addSink('jsonl', sink)
    await store.flush({ timeoutMs: 60_000 })
    return await check(store, this.#jsonlPath, { reports: this.#reports, outside })
  }
}
