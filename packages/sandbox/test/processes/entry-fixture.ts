import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Journal, StoreDriver } from '@vitrine/journal'
import { onTestFinished } from 'vitest'
import { findCgroups } from '../../src/cgroups/access.ts'
import type { Launch, Machine } from '../../src/machine/machine.ts'
import { plainMachine } from '../../src/machine/plain.ts'
import { type EntryOptions, ProcessEntry } from '../../src/processes/entry.ts'
import { defaultProcessLimits } from '../../src/processes/process-host.ts'
import { openJournal } from '../output/journals.ts'

export interface EntryFixture {
  readonly journal: Journal
  readonly root: string
  closeStore(): Promise<void>
  start(script: string, options?: Partial<EntryOptions>): Promise<ProcessEntry>
  /** Called before each start of a program. */
  beforeLaunch: () => void | Promise<void>
}

/** Starts plain processes in a temporary folder, without a sandbox. */
export async function entryFixture(driver?: StoreDriver): Promise<EntryFixture> {
  const { store, journal } = await openJournal(driver)
  const root = mkdtempSync(join('/var/tmp', 'vitrine-test-'))
  const machine = await plainMachine({
    ownerTag: 'sbx_test@scene',
    root,
    home: root,
    env: {},
    limits: { defaults: [] },
    cgroups: await findCgroups(),
  })
  onTestFinished(async () => {
    await machine.close()
    rmSync(root, { recursive: true, force: true })
  })
  const fixture: EntryFixture = {
    journal,
    root,
    closeStore: () => store.close(),
    beforeLaunch: () => undefined,
    start(script, options = {}) {
      const launch: Launch = { argv: ['sh', '-c', script], cwd: root, env: machine.environment, input: true }
      const host = { machine: waiting, journal, limits: defaultProcessLimits }
      return ProcessEntry.start(host, { id: 'prc_1', launch, remember: true, ...options })
    },
  }
  const waiting: Machine = Object.assign(Object.create(machine), {
    async launch(launch: Launch) {
      await fixture.beforeLaunch()
      return machine.launch(launch)
    },
  })
  return fixture
}
