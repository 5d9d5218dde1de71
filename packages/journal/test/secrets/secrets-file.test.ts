import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  memoryStore,
  openStore,
  type SecretsFileOptions,
  type Store,
  secretsFile,
  sqliteStore,
} from '../../src/index.ts'

const secret = 'hunter2-planted-8c1d'

interface Scene {
  readonly data: string
  readonly path: string
  readonly key: string
  open(options?: Partial<SecretsFileOptions>): Promise<Store>
}

function scene(): Scene {
  const data = mkdtempSync(join(tmpdir(), 'vitrine-secrets-'))
  const path = join(data, 'secrets.jsonl')
  const key = join(data, 'keys', 'secrets.key')
  const stores: Store[] = []
  onTestFinished(async () => {
    for (const store of stores) await store.close()
    rmSync(data, { recursive: true, force: true })
  })
  return {
    data,
    path,
    key,
    async open(options = {}) {
      for (const store of stores.splice(0)) await store.close()
      const store = await openStore(sqliteStore({ path: join(data, 'store', 'journal.db') }), {
        secrets: secretsFile({ path, key, ...options }),
      })
      stores.push(store)
      return store
    },
  }
}

async function logged(store: Store, message: string): Promise<unknown> {
  const journal = await store.journal('sbx_a')
  const [event] = await journal.append([{ type: 'log.message', data: { level: 'info', message } }])
  return event?.data.message
}

const notices = async (store: Store) =>
  (await (await store.journal('host')).read({ types: ['log.message', 'limit.reached'] })).events

describe('a registered secret', () => {
  it('that is not kept is masked by this owner, and is neither on disk nor known to the next one', async () => {
    const { open, path, key } = scene()
    const store = await open()
    store.addSecret('TOKEN', secret, { kept: false })
    expect(await logged(store, secret)).toBe('[redacted:TOKEN]')
    expect([path, key].filter((file) => existsSync(file))).toEqual([])
    expect(await logged(await open(), secret)).toBe(secret)
  })

  it('of an earlier owner stays masked when a registration of the same value is undone', async () => {
    const { open } = scene()
    ;(await open()).addSecret('TOKEN', secret, { sandbox: 'sbx_a' })
    const next = await open()
    next.addSecret('TOKEN', secret, { sandbox: 'sbx_a' })()
    expect(next.redactText(secret)).toBe('[redacted:TOKEN]')
    next.forgetSecretsOf('sbx_a')
    expect(next.redactText(secret)).toBe(secret)
  })

  it('is registered together with others, or none of them is', async () => {
    const { open } = scene()
    const store = await open()
    expect(() => store.addSecrets({ TOKEN: secret, PIN: '12' })).toThrow('4 characters')
    expect(store.redactText(secret)).toBe(secret)
    const forget = store.addSecrets({ TOKEN: secret, OTHER: 'orchard-gate-51' })
    expect(store.redactText(`${secret} orchard-gate-51`)).toBe('[redacted:TOKEN] [redacted:OTHER]')
    forget()
    expect(store.redactText(secret)).toBe(secret)
  })

  it('is masked by the next owner of the store, in events and in blobs', async () => {
    const { open } = scene()
    ;(await open()).addSecret('TOKEN', secret)
    const next = await open()
    expect(await logged(next, `it is ${secret}`)).toBe('it is [redacted:TOKEN]')
    expect(await logged(next, Buffer.from(`it is ${secret}!`).toString('base64'))).not.toContain(
      Buffer.from(secret).toString('base64').slice(4, 20),
    )
    const { blob } = await next.putBlob(Buffer.from(`it is ${secret}`))
    const { stream } = await next.getBlob(blob)
    expect(await new Response(stream).text()).toBe('it is [redacted:TOKEN]')
    expect(await logged(await open(), secret)).toBe('[redacted:TOKEN]')
  })

  it('is stored encrypted, under a key that only its owner can read', async () => {
    const { open, path, key, data } = scene()
    const store = await open()
    expect(existsSync(key)).toBe(false)
    store.addSecret('TOKEN', secret)
    store.addSecret('OTHER', secret)
    expect(statSync(key).mode & 0o777).toBe(0o600)
    expect(statSync(join(data, 'keys')).mode & 0o777).toBe(0o700)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(key).length).toBe(32)
    const stored = readFileSync(path, 'utf8')
    for (const form of [secret, Buffer.from(secret).toString('base64').slice(0, 20), 'TOKEN'])
      expect(stored).not.toContain(form)
    const nonces = stored
      .trim()
      .split('\n')
      .map((line) => Buffer.from(JSON.parse(line).sealed, 'base64').subarray(0, 12).toString('hex'))
    expect(new Set(nonces).size).toBe(2)
    await store.close()
    expect(readdirSync(join(data, 'keys'))).toEqual(['secrets.key'])
  })

  it('is forgotten when its last registration is', async () => {
    const { open, path } = scene()
    const store = await open()
    const once = store.addSecret('TOKEN', secret)
    const again = store.addSecret('TOKEN', secret)
    once()
    once()
    expect(await logged(store, secret)).toBe('[redacted:TOKEN]')
    again()
    expect(await logged(store, secret)).toBe(secret)
    expect(await logged(await open(), secret)).toBe(secret)
    expect(readFileSync(path, 'utf8')).toBe('')
  })

  it('of a destroyed sandbox is forgotten, unless another one or the host registered it too', async () => {
    const { open } = scene()
    const store = await open()
    store.addSecret('ONE', `${secret}-one`, { sandbox: 'sbx_a' })
    store.addSecret('BOTH', `${secret}-both`, { sandbox: 'sbx_a' })
    store.addSecret('BOTH', `${secret}-both`, { sandbox: 'sbx_b' })
    store.addSecret('HOST', `${secret}-host`, { sandbox: 'sbx_a' })
    store.addSecret('HOST', `${secret}-host`)
    const next = await open()
    next.forgetSecretsOf('sbx_a')
    const masked = `${secret}-one [redacted:BOTH] [redacted:HOST]`
    expect(await logged(next, `${secret}-one ${secret}-both ${secret}-host`)).toBe(masked)
    const last = await open()
    expect(await logged(last, `${secret}-one ${secret}-both ${secret}-host`)).toBe(masked)
    last.forgetSecretsOf('sbx_b')
    expect(await logged(last, `${secret}-both`)).toBe(`${secret}-both`)
  })

  it('of the newest 1,000 is kept, and the record says how many were forgotten', async () => {
    const { open } = scene()
    const store = await open()
    for (let n = 0; n < 1_003; n += 1)
      store.addSecret(`N${n}`, `secret-number-${String(n).padStart(5, '0')}-x`)
    const next = await open()
    expect(await logged(next, 'secret-number-00002-x')).toBe('secret-number-00002-x')
    expect(await logged(next, 'secret-number-00003-x')).toBe('[redacted:N3]')
    expect(await notices(next)).toMatchObject([
      { type: 'limit.reached', data: { limit: 'secrets', max: 1_000, forgotten: 3 } },
    ])
  })

  it('stays on file without growing it, however often values come and go', async () => {
    const { open, path } = scene()
    const store = await open()
    store.addSecret('TOKEN', secret)
    for (let n = 0; n < 3_000; n += 1) {
      store.addSecret('tools', `passing-value-${n}`)()
      // Some are registered for good, also while the file is written again.
      if (n % 100 === 0) store.addSecret('KEPT', `lasting-value-${n}`)
    }
    expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(1_100)
    const next = await open()
    expect(await logged(next, secret)).toBe('[redacted:TOKEN]')
    for (let n = 0; n < 3_000; n += 100)
      expect(await logged(next, `lasting-value-${n}`)).toBe('[redacted:KEPT]')
  })
})

describe('a store whose secrets cannot be read', () => {
  const flip = (path: string, at: number) => {
    const bytes = readFileSync(path)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    writeFileSync(path, bytes)
  }
  const cases: [string, (scene: Scene) => void, RegExp][] = [
    ['the key is missing', ({ key }) => rmSync(key), /the key .* is missing/],
    ['the key has another mode', ({ key }) => chmodSync(key, 0o640), /mode 0640.*chmod 600/s],
    ['the key is too short', ({ key }) => writeFileSync(key, 'short'), /5 bytes, expected 32/],
    ['the key is another one', ({ key }) => flip(key, 7), /encrypted with another key/],
    [
      'the key is a link',
      ({ key, data }) => {
        writeFileSync(join(data, 'elsewhere'), readFileSync(key), { mode: 0o600 })
        rmSync(key)
        symlinkSync(join(data, 'elsewhere'), key)
      },
      /is a link/,
    ],
    ['the file is missing', ({ path }) => rmSync(path), /is missing, although the key/],
    [
      'a value is damaged',
      ({ path }) => writeFileSync(path, readFileSync(path, 'utf8').replace(/("sealed":".{50})./, '$1*')),
      /damaged/,
    ],
    ['a line is damaged', ({ path }) => flip(path, 0), /line 1 .* damaged/],
  ]

  it.each(cases)('does not open if %s, unless told to forget them', async (_name, damage, message) => {
    const given = scene()
    const store = await given.open()
    store.addSecret('TOKEN', secret)
    await store.close()
    damage(given)
    const kept = existsSync(given.path) ? readFileSync(given.path, 'utf8') : undefined
    await expect(given.open()).rejects.toMatchObject({
      code: 'secrets_unreadable',
      message: expect.stringMatching(message),
    })
    // Nothing was changed or reset, and the store is free for the next attempt.
    expect(existsSync(given.path) ? readFileSync(given.path, 'utf8') : undefined).toBe(kept)
    const forgetful = await given.open({ forgetUnreadable: true })
    expect(await notices(forgetful)).toMatchObject([
      {
        type: 'log.message',
        data: { level: 'warn', message: expect.stringContaining('not masked any more') },
      },
    ])
    forgetful.addSecret('NEW', `${secret}-new`)
    expect(await logged(await given.open(), `${secret}-new`)).toBe('[redacted:NEW]')
  })

  it('opens if its host died while it wrote a value that was never used', async () => {
    const { open, path } = scene()
    const store = await open()
    store.addSecret('TOKEN', secret)
    await store.close()
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"id":"cut","owner":"","sea`)
    expect(await logged(await open(), secret)).toBe('[redacted:TOKEN]')
  })

  it('refuses a secret that it cannot put on record', async () => {
    const { open, path } = scene()
    const store = await open()
    store.addSecret('TOKEN', secret)
    // Another host opened the data directory and wrote the file again.
    writeFileSync(`${path}.draft`, readFileSync(path))
    renameSync(`${path}.draft`, path)
    expect(() => store.addSecret('LATE', `${secret}-late`)).toThrow(
      expect.objectContaining({ code: 'store_fenced' }),
    )
    expect(await logged(store, `${secret}-late`)).not.toContain('LATE')
  })
})

describe('a keyed hash', () => {
  it('is the same after a restart, and another with another key', async () => {
    const { open, key, path } = scene()
    const hash = (await open()).keyedHash('yes')
    expect(hash).toMatch(/^[0-9a-f]{8}:[0-9a-f]{32}$/)
    expect((await open()).keyedHash('yes')).toBe(hash)
    expect((await open()).keyedHash('no')).not.toBe(hash)
    const other = (await scene().open()).keyedHash('yes')
    expect([other === hash, other.slice(0, 8) === hash.slice(0, 8)]).toEqual([false, false])
    expect(statSync(key).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toBe('')
  })

  it('has a key that lasts as long as its process if no secrets are kept', async () => {
    const [one, two] = await Promise.all([openStore(memoryStore()), openStore(memoryStore())])
    expect(one.keyedHash('yes')).toBe(one.keyedHash('yes'))
    expect(one.keyedHash('yes')).not.toBe(two.keyedHash('yes'))
  })
})

it('does not empty the file of a host that took the store over before the first secret', async () => {
  const { data, path, key, open } = scene()
  const first = await open()
  const files = secretsFile({ path, key })
  const driver = sqliteStore({ path: join(data, 'store', 'journal.db') })
  const second = await openStore(driver, { secrets: files, takeover: true })
  onTestFinished(() => second.close())
  second.addSecret('TOKEN', secret)
  const stored = readFileSync(path, 'utf8')
  expect(() => first.addSecret('LATE', `${secret}-late`)).toThrow(
    expect.objectContaining({ code: 'store_fenced' }),
  )
  expect(readFileSync(path, 'utf8')).toBe(stored)
})
