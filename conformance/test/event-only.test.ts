import { inProcessSandboxClient } from '@vitrine/host'
import { expect, it, onTestFinished } from 'vitest'
import { compareCapabilities } from '../src/sandbox/capabilities/compare.ts'
import { measureCapabilities } from '../src/sandbox/capabilities/measure.ts'

it('an event-only sandbox claims only capabilities that were measured', async () => {
  const sandbox = await inProcessSandboxClient({ onPrompt: () => [] }).create()
  onTestFinished(() => sandbox.close())
  const under = { sandbox, journal: sandbox.journal, close: () => sandbox.close() }
  const rows = compareCapabilities(sandbox.capabilities, await measureCapabilities(under))
  expect(rows.map(({ capability, verdict }) => `${capability} ${verdict}`)).toEqual(
    Object.keys(sandbox.capabilities).map((capability) => `${capability} true`),
  )
})
