import { afterAll, describe, expect, it } from 'vitest'
import { type MakeSandbox, newSandbox, type SandboxKitOptions } from '../kit.ts'
import { type CapabilityRow, capabilityTable, compareCapabilities } from './compare.ts'
import { measureCapabilities } from './measure.ts'

export function capabilityCases(make: MakeSandbox, _options: SandboxKitOptions, name: string): void {
  describe('capabilities', () => {
    let rows: readonly CapabilityRow[] = []

    it('the sandbox claims only capabilities that were measured', async () => {
      const under = await newSandbox(make)
      rows = compareCapabilities(under.sandbox.capabilities, await measureCapabilities(under, make))
      const wrong = rows.filter(({ verdict }) => verdict === 'FALSE' || verdict === 'NOT MEASURED')
      expect(wrong).toEqual([])
    })

    it('the journal has the claimed capabilities', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const { events } = await journal.read({ types: ['sandbox.ready'] })
      expect(events).toMatchObject([{ data: { capabilities: sandbox.capabilities } }])
    })

    afterAll(() => {
      // biome-ignore lint/suspicious/noConsole: the matrix is what a run of the kit is for.
      if (rows.length > 0) console.log(capabilityTable(name, rows))
    })
  })
}
