import { describe, expect, it } from 'vitest'
import { request, server } from './commands.ts'
import { freePort } from './free-port.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from './kit.ts'
import { newMark, waitUntilGone } from './marks.ts'

export function machineCases(make: MakeSandbox): void {
  describe('a sandbox is a machine', () => {
    const shared = sharedSandbox(make)

    it('a command reaches a server that another command started', async () => {
      const { sandbox } = await shared()
      const [spawned, left] = [await freePort(), await freePort()]
      await sandbox.spawn(server(spawned, 'spawned'))
      expect(await sandbox.exec(request(spawned))).toMatchObject({ outcome: 'ok', stdout: 'spawned' })
      await sandbox.exec(`(${server(left, 'left behind')}) > /dev/null 2>&1 &`)
      expect(await sandbox.exec(request(left))).toMatchObject({ outcome: 'ok', stdout: 'left behind' })
    })

    it('all commands share one /tmp', async () => {
      const { sandbox } = await shared()
      const file = `/tmp/vitrine-kit-${newMark()}`
      await sandbox.exec(`echo shared > ${file}`)
      expect((await sandbox.exec(`cat ${file}; rm ${file}`)).stdout).toBe('shared\n')
    })

    it('all commands share one process table', async () => {
      const { sandbox, ...under } = await shared()
      const mark = newMark()
      await sandbox.exec(`sleep ${mark} > /dev/null 2>&1 &`)
      // The forked child may not have executed `sleep` yet.
      const seen = `until ps -eo args | grep -q '^sleep ${mark}'; do sleep 0.02; done`
      expect(await sandbox.exec(seen, { timeoutMs: 30_000 })).toMatchObject({ outcome: 'ok' })
      expect(await sandbox.exec(['pkill', '-f', `^sleep ${mark}`])).toMatchObject({ exitCode: 0 })
      await waitUntilGone({ sandbox, ...under }, mark)
    })

    it('each sandbox has its own writable HOME, which survives a shutdown', async () => {
      const { sandbox } = await newSandbox(make)
      const other = await newSandbox(make)
      const home = async (one: typeof sandbox) => (await one.exec('cd && pwd -P')).stdout.trimEnd()
      expect(
        (await sandbox.exec('mkdir -p ~/.config && echo kept > ~/.config/file && stat -c %a ~')).stdout,
      ).toBe('700\n')
      expect((await other.sandbox.exec('ls -A ~')).stdout).toBe('')
      expect((await sandbox.exec('[ "$HOME" != "$PWD" ] && echo apart')).stdout).toBe('apart\n')
      expect(await home(sandbox)).not.toBe(process.env.HOME)
      await sandbox.lifecycle.shutdown()
      await sandbox.lifecycle.start()
      expect((await sandbox.exec('cat ~/.config/file')).stdout).toBe('kept\n')
    })

    it('the workspace is at the path `root`', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(`echo here > ${sandbox.root}/file`)
      expect((await sandbox.exec('cat file')).stdout).toBe('here\n')
    })
  })
}
