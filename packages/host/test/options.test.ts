import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { hostOptions } from '@vitrine/protocol/options'
import { describe, expect, it } from 'vitest'
import { type InputOf, type Same, same } from '../../protocol/test/options/same.ts'
import {
  commandPolicy,
  createSandbox,
  type HostCreateOptions,
  type InProcessOptions,
  inProcessSandboxClient,
  local,
  type OpenHostOptions,
  openHost,
  type ScriptSandboxOptions,
} from '../src/index.ts'
import { dataFolder, open } from './fixtures/data.ts'

type Of<Name extends keyof typeof hostOptions> = InputOf<(typeof hostOptions)[Name]>

/** Objects that others have made: their own types are checked where they are made. */
type Made = 'workspace' | 'policy' | 'store' | 'provider' | 'providers' | 'agents' | 'sinks'

// Plain JavaScript has no compiler to ask.
const untyped = (value: unknown) => value as never

it('checks by schemas that have the types of this package', () => {
  same<Same<keyof HostCreateOptions, keyof Of<'create'>>>()
  same<Same<Omit<HostCreateOptions, Made>, Omit<Of<'create'>, Made>>>()
  same<Same<keyof OpenHostOptions, keyof Of<'open'>>>()
  same<Same<Omit<OpenHostOptions, Made>, Omit<Of<'open'>, Made>>>()
  same<Same<keyof ScriptSandboxOptions, keyof Of<'script'>>>()
  same<Same<Omit<ScriptSandboxOptions, Made>, Omit<Of<'script'>, Made>>>()
  same<Same<InProcessOptions, Of<'inProcess'>>>()
  expect(same).toBeTypeOf('function')
})

describe('an unknown key is refused with the nearest known one', () => {
  it('openHost, createSandbox, local and inProcessSandboxClient refuse an unknown key', async () => {
    await expect(openHost(untyped({ dta: 'x' }))).rejects.toThrow(
      'openHost options: unknown key "dta"; did you mean "data"?',
    )
    await expect(createSandbox(untyped({ workspce: {} }))).rejects.toThrow(
      'createSandbox options: unknown key "workspce"; did you mean "workspace"?',
    )
    expect(() => local(untyped({ memory: 512 }))).toThrow(
      'local options: unknown key "memory"; did you mean "limits.memoryBytes"?',
    )
    expect(() => inProcessSandboxClient(untyped({ onPrompt: () => 'x', workDir: '/x' }))).toThrow(
      'did you mean "workdir"?',
    )
  })

  it('host.create refuses an unknown key and leaves nothing of that sandbox', async () => {
    const host = await open(dataFolder())
    await expect(host.create(untyped({ workspce: {} }))).rejects.toThrow(
      'create options: unknown key "workspce"; did you mean "workspace"?',
    )
    await expect(host.create(untyped({ local: { memory: 512 } }))).rejects.toThrow(
      'local: unknown key "memory"; did you mean "limits.memoryBytes"?',
    )
    await expect(
      host.create(untyped({ local: { isolation: 'none' }, workspace: { file: {} } })),
    ).rejects.toThrow('workspace: unknown key "file"; did you mean "files"?')
    expect(await host.list()).toEqual([])
  })

  it('openSession and prompt refuse an unknown key', async () => {
    const host = await open(dataFolder(), { agents: [{ name: 'echo', onPrompt: (prompt) => prompt }] })
    const sandbox = await host.create({ local: { isolation: 'none' } })
    await expect(sandbox.openSession(untyped({ agent: 'echo', permission: 'allow' }))).rejects.toThrow(
      'openSession options: unknown key "permission"; did you mean "permissions"?',
    )
    await expect(sandbox.openSession(untyped({ agent: 'echo', permissions: 'alow' }))).rejects.toThrow(
      'permissions: expected "ask", "allow", "deny" or an object, got "alow", a string.',
    )
    const session = await sandbox.openSession({ agent: 'echo' })
    await expect(session.prompt('hi', untyped({ turns: 'x' }))).rejects.toThrow('did you mean "turn"?')
  })
})

describe('a restriction that is not known', () => {
  it('is refused in a provider made by hand, and in a record, instead of being no restriction', async () => {
    const provider = untyped({ name: 'local', options: { isolation: 'none', network: 'off' } })
    await expect(createSandbox({ provider })).rejects.toThrow(
      'network: expected "none" or "host", got "off".',
    )
    const data = dataFolder()
    const host = await open(data)
    const { id } = await host.create({ local: { isolation: 'none' } })
    await host.close()
    const [path = ''] = globSync(`**/${id}.json`, { cwd: data })
    const record = join(data, path)
    writeFileSync(record, readFileSync(record, 'utf8').replace('"isolation": "none"', '"isolation": "bwrap"'))
    const again = await open(data)
    await expect(again.attach(id)).rejects.toThrow('isolation: expected "auto", "bubblewrap" or "none"')
  })

  it.each([
    [{ ...commandPolicy({ deny: ['rm *'] }) }, 'deny[0]'],
    [{ deny: 'rm *' }, 'deny: expected an array of rules'],
    [{ otherwise: 'no' }, 'otherwise'],
    [{ denied: [] }, 'unknown key "denied"'],
    [[], 'expected an object'],
  ])('is refused in a policy that is neither compiled nor made of rules: %j', async (policy, message) => {
    const host = await open(dataFolder())
    const creating = host.create({ local: { isolation: 'none' }, policy: untyped(policy) })
    await expect(creating).rejects.toThrow(message)
    expect(await host.list()).toEqual([])
  })

  it('is not reported for process.env, which every call accepts as env', async () => {
    const host = await open(dataFolder())
    const sandbox = await host.create({ local: { isolation: 'none', env: untyped(process.env) } })
    const { stdout } = await sandbox.exec('printenv PATH', { env: untyped(process.env) })
    expect(stdout.trim()).toBe(process.env.PATH)
  })
})
