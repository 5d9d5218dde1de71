import { mkdtempSync, rmSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { createLocalSandbox, local } from '../../src/index.ts'

it('records the caller that started a sandbox with the start, not with what its programs do later', async () => {
  const data = mkdtempSync('/var/tmp/vitrine-start-')
  const context = { caller: 'bob', actor: 'alice', run: 'run_1', turn: 'turn_1' }
  const sandbox = await createLocalSandbox({
    provider: local({ data, isolation: 'bubblewrap', egress: ['allowed.localhost:9'] }),
    context,
  })
  onTestFinished(async () => {
    await sandbox.close()
    rmSync(data, { recursive: true, force: true })
  })
  await sandbox.as({ caller: 'carol' }).exec(`curl -sS -m 5 --noproxy '' http://refused.localhost:9`)
  await sandbox.files.write('later.txt', 'x')
  const { events } = await sandbox.journal.read({ limit: 1_000 })
  const of = (type: string, op?: string) =>
    events.filter(
      (event) => event.type === type && (op === undefined || Reflect.get(event.data, 'op') === op),
    )
  for (const event of [
    ...of('sandbox.created'),
    ...of('operation.started', 'start'),
    ...of('operation.finished', 'build_machine'),
    ...of('sandbox.ready'),
  ])
    expect(event, event.type).toMatchObject(context)
  expect(of('operation.started', 'exec')).toMatchObject([{ caller: 'carol' }])
  const later = [...of('network.refused'), ...of('operation.started', 'write')]
  expect(later.length).toBe(2)
  for (const event of later) {
    expect(event, event.type).not.toHaveProperty('caller')
    expect(event, event.type).not.toHaveProperty('actor')
  }
})
