import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLocalSandbox, local } from '../../src/index.ts'
import { openSandbox } from '../fixtures/sandbox.ts'

const root = process.getuid?.() === 0

describe.runIf(root)('a sandbox without isolation whose commands run as another user', () => {
  it('gives that user the workspace, HOME and the files that the host writes', async () => {
    const data = place()
    const sandbox = await createLocalSandbox({ provider: local({ data, isolation: 'none', user: 'nobody' }) })
    onTestFinished(() => sandbox.close())
    const { stdout } = await sandbox.exec('id -un; touch mine "$HOME/mine" && echo ok; echo "$USER"')
    expect(stdout).toBe('nobody\nok\nnobody\n')
    await sandbox.files.write('given', 'by the host')
    expect((await sandbox.exec('echo more >> given && cat given')).stdout).toBe('by the hostmore\n')
    expect(statSync(join(sandbox.root, 'given')).uid).toBe(statSync(join(sandbox.root, 'mine')).uid)
    expect((await sandbox.exec('id -u', { user: 'root' })).stdout).toBe('0\n')
  })

  it("hides the host's state of the sandbox from that user", async () => {
    const sandbox = await openSandbox({ data: place(), isolation: 'none', user: 'nobody' })
    const { exitCode } = await sandbox.exec(`ls "${join(sandbox.root, '..', 'state')}"`)
    expect(exitCode).not.toBe(0)
  })

  it('names the folder that the user may not enter', async () => {
    const data = mkdtempSync('/var/tmp/vitrine-closed-')
    onTestFinished(() => rmSync(data, { recursive: true, force: true }))
    const provider = local({ data, isolation: 'none', user: 'nobody' })
    await expect(createLocalSandbox({ provider })).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(`may not enter ${data}`),
    })
  })

  it('finds no program in a folder that the user may not enter', async () => {
    const data = place()
    const closed = join(data, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    writeFileSync(join(closed, 'tool'), '#!/bin/sh\n', { mode: 0o755 })
    const sandbox = await openSandbox({ data, isolation: 'none', user: 'nobody' })
    const env = { PATH: `${closed}:/usr/bin:/bin` }
    await expect(sandbox.exec(['tool'], { env })).rejects.toMatchObject({ code: 'command_not_found' })
    await expect(sandbox.exec(['tool'], { env, user: 'root' })).resolves.toMatchObject({ outcome: 'ok' })
  })

  it('rejects a user that does not exist', async () => {
    const provider = local({ data: place(), isolation: 'none', user: 'nobody-at-all' })
    await expect(createLocalSandbox({ provider })).rejects.toMatchObject({ code: 'user_unknown' })
  })
})

function place(): string {
  const data = mkdtempSync('/var/tmp/vitrine-open-')
  chmodSync(data, 0o711)
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  return data
}
