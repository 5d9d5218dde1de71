import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPages } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { commandPolicy, createSandbox, type Host, local } from '../src/index.ts'
import { dataFolder, open } from './fixtures/data.ts'

const none = { isolation: 'none' } as const
const secrets = { API_KEY: 'hushed-value-3f9c1b7d2e', DB_PASSWORD: 'another/"secret" 0451' }
const print = 'echo "$API_KEY $DB_PASSWORD"'
const values = Object.values(secrets)

/** Every file of a data directory that has this text. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(text))
}

async function record(host: Host, id: string): Promise<string> {
  const journal = await host.store.journal(id)
  let text = ''
  for await (const { events } of readPages(journal, { limit: 1_000 })) text += JSON.stringify(events)
  return text
}

describe('secrets of a sandbox', () => {
  it('are variables of every command, masked in every event, and in the clear in no file', async () => {
    const data = dataFolder()
    const host = await open(data)
    const sandbox = await host.create({ id: 'one', local: none, secrets })
    expect((await sandbox.exec(print)).stdout).toBe(`${values.join(' ')}\n`)
    const process = await sandbox.spawn(print)
    await process.exit
    const text = await record(host, 'one')
    expect(text).toContain('[redacted:API_KEY] [redacted:DB_PASSWORD]')
    for (const value of values) expect(text).not.toContain(value.slice(0, 12))
    await host.close()
    for (const value of values) expect(filesWith(data, value)).toEqual([])
    expect(JSON.parse(readFileSync(join(data, 'records', 'one.json'), 'utf8'))).toMatchObject({
      secrets: ['API_KEY', 'DB_PASSWORD'],
    })
  })

  it('have to be given again to an attach of a later host, which names the missing ones', async () => {
    const data = dataFolder()
    const first = await open(data)
    await first.create({ id: 'one', local: none, secrets })
    await first.close()
    const host = await open(data)
    for (const attach of [
      () => host.attach('one'),
      () => host.find('one'),
      () => host.attach('one', { isolation: 'none' }),
    ])
      await expect(attach()).rejects.toMatchObject({
        code: 'secret_missing',
        message: expect.stringMatching(/API_KEY, DB_PASSWORD.*POST \/v1\/sandboxes\/one\/attach/),
        details: { id: 'one', secrets: ['API_KEY', 'DB_PASSWORD'] },
      })
    await expect(host.attach('one', { secrets: { API_KEY: secrets.API_KEY } })).rejects.toMatchObject({
      details: { secrets: ['DB_PASSWORD'] },
    })
    const changed = { ...secrets, API_KEY: 'a-new-value-77aa' }
    const sandbox = await host.attach('one', { secrets: changed })
    expect((await sandbox.exec(print)).stdout).toBe(`${Object.values(changed).join(' ')}\n`)
    await sandbox.lifecycle.stop()
    await sandbox.lifecycle.start()
    expect((await sandbox.exec(print)).stdout).toContain(changed.API_KEY)
    expect(await host.attach('one')).toBe(sandbox)
    const text = await record(host, 'one')
    for (const value of [...values, changed.API_KEY]) expect(text).not.toContain(value.slice(0, 12))
  })

  it.each(['running', 'stopped'])(
    'are replaced by an attach to a %s sandbox for later commands, and the earlier ones stay masked',
    async (state) => {
      const host = await open(dataFolder())
      const sandbox = await host.create({ id: 'one', local: none, secrets })
      if (state === 'stopped') await sandbox.lifecycle.stop()
      const renewed = { API_KEY: 'renewed-value-88c1e0' }
      expect(await host.attach('one', { secrets: renewed })).toBe(sandbox)
      const printed = `${renewed.API_KEY} ${secrets.DB_PASSWORD}\n`
      expect((await sandbox.exec(print)).stdout).toBe(printed)
      expect((await sandbox.exec(`echo ${secrets.API_KEY}`)).exitCode).toBe(0)
      await sandbox.lifecycle.stop()
      await host.attach('one')
      expect((await sandbox.exec(print)).stdout).toBe(printed)
      // The same values again are no change.
      await host.attach('one', { secrets: renewed })
      const text = await record(host, 'one')
      expect(text.match(/"op":"attach"/g)).toHaveLength(2)
      expect(text).toContain('"secrets":["API_KEY"]')
      for (const value of [...values, renewed.API_KEY]) expect(text).not.toContain(value.slice(0, 12))
    },
  )

  it('are judged by the policy with the values of the last attach', async () => {
    const host = await open(dataFolder())
    const policy = commandPolicy({ allow: ['git *', 'ssh *'], otherwise: 'deny' })
    const secrets = { GIT_SSH_COMMAND: 'ssh -4' }
    const sandbox = await host.create({ id: 'one', local: none, policy, secrets })
    expect((await sandbox.exec('git --version')).exitCode).toBe(0)
    await host.attach('one', { secrets: { GIT_SSH_COMMAND: 'touch taken' } })
    await expect(sandbox.exec('git --version')).rejects.toMatchObject({ code: 'gate_refused' })
  })

  it('are not registered by an attach that is refused', async () => {
    const host = await open(dataFolder())
    const policy = commandPolicy({ otherwise: 'allow' })
    const onAsk = () => true
    await host.create({ id: 'running', local: none, secrets })
    const asking = await host.create({ id: 'asking', local: none, policy, onAsk, secrets })
    await asking.close()
    const given = { ...secrets, API_KEY: 'refused-value-51b7', OTHER: 'refused-value-63cd' }
    for (const [attach, code] of [
      [() => host.attach('unknown', { secrets: given }), 'not_found'],
      [() => host.attach('running', { secrets: given, policy }), 'sandbox_running'],
      [() => host.attach('running', { secrets: { ...given, PIN: '12' } }), 'secret_too_short'],
      [() => host.attach('asking', { secrets: given }), 'attach_incomplete'],
      [() => host.attach('asking', { secrets: { OTHER: given.OTHER }, onAsk }), 'secret_missing'],
      [() => host.attach('asking', { secrets: { ...given, PIN: '12' }, onAsk }), 'secret_too_short'],
      [() => host.create({ id: 'new', local: none, secrets: { ...given, PIN: '12' } }), 'secret_too_short'],
    ] as const) {
      await expect(attach()).rejects.toMatchObject({ code })
      for (const value of [given.API_KEY, given.OTHER]) expect(host.store.redactText(value)).toBe(value)
    }
    await host.attach('asking', { secrets: given, onAsk })
    expect(host.store.redactText(`${given.API_KEY} ${given.OTHER}`)).toBe(
      '[redacted:API_KEY] [redacted:OTHER]',
    )
  })

  it('are refused, and not used unmasked, when no more values can be masked', async () => {
    const host = await open(dataFolder())
    const sandbox = await host.create({ id: 'one', local: none, secrets })
    for (let index = 10; index < 73; index += 1)
      host.store.addSecret('BIG', `${index}${'x'.repeat(64 * 1024 - 2)}`, { sandbox: 'other' })
    const more = { LATE_A: 'a-late-value-9be1', API_KEY: 'y'.repeat(64 * 1024) }
    const refusal = {
      code: 'secret_limit',
      status: 507,
      message: expect.stringContaining('4194304 bytes'),
      hint: expect.stringContaining('Destroy'),
    }
    await expect(sandbox.exec('touch ran', { secrets: more })).rejects.toMatchObject(refusal)
    await expect(host.attach('one', { secrets: more })).rejects.toMatchObject(refusal)
    await expect(host.create({ id: 'two', local: none, secrets: more })).rejects.toMatchObject(refusal)
    expect(host.store.redactText(more.LATE_A)).toBe(more.LATE_A)
    expect((await sandbox.exec(`${print}; ls`)).stdout).toBe(`${values.join(' ')}\n`)
    host.store.forgetSecretsOf('other')
    expect(await host.attach('one', { secrets: more })).toBe(sandbox)
  })

  it('stay with a stopped sandbox when an attach that would replace its policy is refused', async () => {
    const host = await open(dataFolder())
    const sandbox = await host.create({ id: 'one', local: none, secrets })
    await sandbox.lifecycle.stop()
    await expect(host.attach('one', { policy: commandPolicy({ otherwise: 'allow' }) })).rejects.toMatchObject(
      {
        code: 'secret_missing',
      },
    )
    const attached = await host.attach('one')
    expect((await attached.exec(print)).stdout).toBe(`${values.join(' ')}\n`)
  })

  it('are masked after a restart, also before they are given again', async () => {
    const data = dataFolder()
    const first = await open(data)
    await first.create({ id: 'one', local: none, secrets })
    await first.close()
    const host = await open(data)
    const other = await host.create({ id: 'two', local: none })
    await other.exec(`echo ${secrets.API_KEY}`)
    expect(await record(host, 'two')).not.toContain(secrets.API_KEY)
  })

  it('are forgotten with the sandbox', async () => {
    const host = await open(dataFolder())
    await host.create({ id: 'one', local: none, secrets })
    await host.destroy('one')
    const other = await host.create({ id: 'two', local: none })
    await other.exec(`echo ${secrets.API_KEY}`)
    expect(await record(host, 'two')).toContain(secrets.API_KEY)
  })

  it('are refused if they are too short or also a variable in the clear, and nothing is created', async () => {
    const host = await open(dataFolder())
    await expect(host.create({ id: 'one', local: none, secrets: { PIN: '12' } })).rejects.toMatchObject({
      code: 'secret_too_short',
      message: expect.stringContaining('secrets.PIN'),
    })
    const env = { API_KEY: 'shown' }
    await expect(host.create({ id: 'one', local: { ...none, env }, secrets })).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('API_KEY in both'),
    })
    await expect(host.create({ id: 'one', local: none, workspace: { env }, secrets })).rejects.toMatchObject({
      code: 'argument_invalid',
    })
    expect(await host.list()).toEqual([])
  })

  it('can be given to a sandbox of a script', async () => {
    await using sandbox = await createSandbox({ provider: local(none), secrets })
    expect((await sandbox.exec(print)).stdout).toBe(`${values.join(' ')}\n`)
  })
})
