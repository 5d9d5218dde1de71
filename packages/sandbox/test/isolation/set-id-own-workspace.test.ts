import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLocalSandbox, type LocalOptions, type LocalSandbox, local } from '../../src/index.ts'
import { reasonToSkip } from './fixtures/open-host.ts'

const root = { user: 'root' }
const setIdBits = 0o6000

function dataDirectory(): string {
  const data = mkdtempSync('/var/tmp/vitrine-set-id-')
  chmodSync(data, 0o711)
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  return data
}

async function open(data: string, options: LocalOptions): Promise<LocalSandbox> {
  const provider = local({ data, watch: false, ...options })
  const sandbox = await createLocalSandbox({ id: 'own', provider })
  onTestFinished(() => sandbox.close())
  return sandbox
}

/** Runs a program of a workspace as an ordinary user of the host. */
function runOnHost(path: string): { readonly stdout: string } {
  const user = ['--reuid', '65000', '--regid', '65000', '--clear-groups']
  // Through a shell: `setpriv` itself still has the rights of root when it executes a program.
  return spawnSync('setpriv', [...user, 'sh', '-c', `${path} -u`], { encoding: 'utf8' })
}

describe.skipIf(reasonToSkip('self', true))(
  "a setuid program in the daemon's own workspace, with a writable system",
  () => {
    it.each([
      ['on the disk of the host', {}],
      ['on a volume', { limits: { diskBytes: 32 * 1024 ** 2 } }],
    ] satisfies [string, LocalOptions][])('gives nobody another user: %s', async (_, options) => {
      const sandbox = await open(dataDirectory(), { isolation: 'bubblewrap', rootfs: 'writable', ...options })
      // A package manager sets these bits, so the sandbox's root may.
      await sandbox.exec('cp /usr/bin/id mine && chmod 4755 mine', root)
      const path = join(sandbox.root, 'mine')
      expect(lstatSync(path).mode & setIdBits).toBe(0o4000)
      expect((await sandbox.exec('./mine -u')).stdout).toBe('1000\n')
      expect((await sandbox.exec('cp mine /usr/bin/mine && chmod 4755 /usr/bin/mine', root)).exitCode).toBe(0)
      expect((await sandbox.exec('mine -u')).stdout).toBe('1000\n')
      expect(runOnHost(path).stdout ?? '').toBe('')
    })

    it('cannot be made of files that belong to a user of the host', async () => {
      const data = dataDirectory()
      const first = await open(data, { isolation: 'none', user: 'nobody' })
      await first.exec('cp /usr/bin/id theirs')
      await first.close()
      const sandbox = await open(data, { isolation: 'bubblewrap', rootfs: 'writable' })
      const path = join(sandbox.root, 'theirs')
      expect(existsSync(path)).toBe(true)
      expect(await sandbox.exec('chmod 4755 theirs', root)).toMatchObject({ outcome: 'failed' })
      expect(lstatSync(path).mode & setIdBits).toBe(0)
      expect(runOnHost(path).stdout).toBe('65000\n')
    })
  },
)
