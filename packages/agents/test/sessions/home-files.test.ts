import { mkdtempSync, rmSync } from 'node:fs'
import { createLocalSandbox, local } from '@vitrine/sandbox'
import { expect, it, onTestFinished } from 'vitest'
import { putInHome } from '../../src/sessions/start/home-files.ts'

it.each(['none', 'bubblewrap'] as const)(
  'writes files into HOME that only their owner can read, with isolation %s',
  async (isolation) => {
    const data = mkdtempSync('/var/tmp/vitrine-home-')
    const sandbox = await createLocalSandbox({ provider: local({ data, isolation }) })
    onTestFinished(async () => {
      await sandbox.close()
      rmSync(data, { recursive: true, force: true })
    })
    const path = '.config/login.json'
    const show = async () =>
      (await sandbox.exec(`cd "$HOME" && stat -c %a ${path} && cat ${path}; ls -A .config`)).stdout
    // An existing link is replaced, not followed.
    await sandbox.exec(`mkdir -p "$HOME/.config" && ln -s "$PWD/caught" "$HOME/${path}"`)
    const takeFirst = await putInHome(sandbox, { [path]: 'first' })
    expect(await show()).toBe('600\nfirstlogin.json\n')
    expect((await sandbox.exec('ls')).stdout).toBe('')
    const takeSecond = await putInHome(sandbox, { [path]: 'second' })
    await takeFirst()
    expect(await show()).toBe('600\nsecondlogin.json\n')
    await takeSecond()
    expect(await show()).toBe('')
  },
)
