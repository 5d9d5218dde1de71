import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findCgroups } from '../../src/cgroups/access.ts'
import { createCgroup } from '../../src/cgroups/create.ts'

describe('findCgroups', () => {
  test('gives a reason for exactly the missing features', async () => {
    const { reasons, hierarchies, ...has } = await findCgroups()
    for (const [ability, can] of Object.entries(has))
      expect([ability, ability in reasons]).toEqual([ability, !can])
    for (const { root } of hierarchies) expect(existsSync(root.folder)).toBe(true)
  })

  test.runIf(process.getuid?.() === 0)('finds no features for a user without delegation', () => {
    const source = fileURLToPath(new URL('../../src/cgroups/access.ts', import.meta.url))
    const script = `import { findCgroups } from ${JSON.stringify(source)}; console.log(JSON.stringify(await findCgroups()))`
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--conditions=source', '--input-type=module', '-e', script],
      { uid: 65534, gid: 65534, encoding: 'utf8', env: {} },
    )
    if (stderr.includes('EACCES: permission denied, open') || stdout === '') {
      console.warn(`SKIPPED: the user nobody cannot read the sources: ${stderr}`)
      return
    }
    const { reasons, ...rest } = JSON.parse(stdout)
    expect(rest).toEqual({
      memory: false,
      cpu: false,
      pids: false,
      freeze: false,
      kill: false,
      hierarchies: [],
    })
    for (const reason of Object.values(reasons)) expect(reason).toMatch(/EACCES|EROFS|read-only|no cgroup/)
  })
})

test('createCgroup says why a limit cannot be set', async () => {
  const none = {
    memory: false,
    cpu: false,
    pids: false,
    freeze: false,
    kill: false,
    reasons: { memory: 'the moon', kill: 'it rains' },
    hierarchies: [],
  }
  await expect(createCgroup(none, 'a')).rejects.toMatchObject({
    code: 'unsupported',
    message: 'Control groups are not available: it rains.',
  })
  const access = await findCgroups()
  if (!access.kill) return
  const withoutMemory = {
    ...access,
    reasons: none.reasons,
    hierarchies: access.hierarchies.map((found) => ({ ...found, abilities: new Set<never>() })),
  }
  await expect(createCgroup(withoutMemory, 'a', { memoryBytes: 2 ** 30 })).rejects.toMatchObject({
    code: 'unsupported',
    message: 'The memory limit is not supported: the moon.',
  })
})
