import { describe, expect, it } from 'vitest'
import { tarOf } from '../archives/tar-bytes.ts'
import { bytesOf } from '../archives/unpack-calls.ts'
import { allEvents, operationsOf } from '../events.ts'
import { outputOf } from '../files/content.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from '../kit.ts'
import { transfer } from './transfer.ts'

/** Properties that other systems lose when they persist a workspace. */
const losses: readonly (readonly [loss: string, setup: string, check: string, expected: string])[] = [
  [
    'run.sh 0755 became 0644',
    'echo : > run.sh; chmod 755 run.sh',
    'stat -c %a run.sh; ./run.sh && echo ran',
    '755\nran',
  ],
  ['relative symlinks were lost', 'echo x > f; ln -s f l', 'readlink l; cat l', 'f\nx'],
  ['absolute symlinks were lost', 'ln -s /etc/hostname l', 'readlink l', '/etc/hostname'],
  ['a hard link was duplicated', 'echo x > a; ln a b', 'stat -c %h a; [ a -ef b ] && echo same', '2\nsame'],
  ['a time of 2020 became now', 'touch -d @1577934245.25 f', 'stat -c %.6Y f', '1577934245.250000'],
  [
    'a time of a directory became now',
    'mkdir d; touch d/f; touch -d @1577934245 d',
    'stat -c %Y d',
    '1577934245',
  ],
  ['an empty directory was lost', 'mkdir -p a/empty', 'ls -A a', 'empty'],
  ['a newline in a name was lost', 'touch "$(printf "a\\nb")"', 'ls -A --quoting-style=c', '"a\\nb"'],
]

export function persistenceRegressionCases(make: MakeSandbox): void {
  describe('persistence regressions', () => {
    const shared = sharedSandbox(make)
    const other = sharedSandbox(make)

    it.each(losses)('%s', async (_loss, setup, check, expected) => {
      const { sandbox: from } = await shared()
      const { sandbox: to } = await other()
      await from.exec(setup)
      await transfer(from, to)
      expect(await outputOf(to, check)).toBe(expected)
    })

    it('a FIFO and setuid bits were dropped silently', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.exec('mkfifo pipe; echo x > f')
      await bytesOf(await sandbox.persist())
      await sandbox.hydrate(tarOf({ name: 'su', mode: 0o4755 }, { name: 'pipe', type: '6' }))
      const events = await allEvents(journal)
      expect(operationsOf(events, 'persist_workspace')[0]?.at(-1)?.data).toMatchObject({
        leftOut: [{ path: 'pipe', kind: 'fifo' }],
      })
      expect(operationsOf(events, 'hydrate_workspace')[0]?.at(-1)?.data).toMatchObject({
        leftOut: [
          { path: 'su', kind: 'setuid' },
          { path: 'pipe', kind: 'fifo' },
        ],
        leftOutCount: 2,
      })
    })

    it('setuid bits of a persisted file were dropped silently', async ({ skip }) => {
      const { sandbox, journal } = await newSandbox(make)
      const { sandbox: to } = await newSandbox(make)
      await sandbox.exec('echo x > su; chmod 4755 su')
      if ((await outputOf(sandbox, 'stat -c %a su')) !== '4755') skip()
      const { leftOut } = await transfer(sandbox, to)
      expect(await outputOf(to, 'stat -c %a su')).toBe('755')
      const persisted = operationsOf(await allEvents(journal), 'persist_workspace')[0]?.at(-1)?.data
      const named = [...leftOut, ...((persisted?.leftOut ?? []) as unknown as typeof leftOut)]
      expect(named).toContainEqual({ path: 'su', kind: 'setuid' })
    })

    it('hydrating merged one workspace into another', async () => {
      const { sandbox: from } = await shared()
      const { sandbox: to } = await other()
      await from.exec('echo new > new')
      await to.exec('mkdir -p old/deep; echo old > old/deep/f; mkfifo pipe; ln -s /etc out')
      await transfer(from, to)
      expect(await outputOf(to, 'ls -A')).toBe('new')
    })
  })
}
