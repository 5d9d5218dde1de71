import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHost, reasonToSkip } from './fixtures/open-host.ts'

describe.each(['ordinary', 'self'] as const)('a host that was started with a folder open (%s)', (as) => {
  it.skipIf(reasonToSkip(as))('does not hand it into a sandbox, not even to its first process', async () => {
    const folder = mkdtempSync(join('/var/tmp', 'vitrine-open-'))
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'secret'), 'of the host')
    onTestFinished(() => rmSync(folder, { recursive: true }))
    await using host = openHost({ as, leaked: '/' })
    const writable = as === 'self' && reasonToSkip(as, true) === undefined
    const sandbox = await host.open(writable ? { rootfs: 'writable' } : {})
    const search = `for fd in /proc/[0-9]*/fd/*; do cat "$fd${folder}/secret"; done; ls /proc/1/fd/`
    expect(await sandbox.output(search)).toBe('')
    if (writable) expect(await sandbox.output(search, { user: 'root' })).toBe('')
  })
})
