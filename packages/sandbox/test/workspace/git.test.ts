import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStore, type Store, secretsFile, sqliteStore } from '@vitrine/journal'
import { newId } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { commandPolicy } from '../../src/index.ts'
import { folder, hasBubblewrap, isolations, isRoot, openScene, prepare, say } from './prepared.ts'
import {
  closedPort,
  makeRepository,
  redirectTo,
  serveContent,
  serveNothing,
  serveRepository,
} from './repository.ts'

/** Every byte of every file below a folder. */
function bytesBelow(path: string): string {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

function formsOf(secret: string): string[] {
  const base64 = [secret, `x${secret}`, `xx${secret}`].map((text) =>
    Buffer.from(text).toString('base64').slice(4, -4),
  )
  return [secret, ...base64]
}

describe.each(isolations)('a repository under isolation %s', (isolation) => {
  it('clones the last commit with the git of the sandbox', async () => {
    const scene = await openScene()
    const { place, path, env } = makeRepository()
    const sandbox = await scene.prepare(
      {
        git: { 'code/app': { url: `file://${path}` } },
        env,
        setup: [{ run: 'cat file.txt > copy', cwd: 'code/app' }],
      },
      { isolation, binds: [{ source: place }] },
    )
    expect(
      await say(
        sandbox,
        'cd code/app && cat copy && echo && git log --format=%s && git branch --show-current',
      ),
    ).toBe('two\ntwo\nmain')
    const started = (await scene.events()).filter(
      ({ type, data }) => type === 'operation.started' && data.op === 'exec',
    )
    expect(started[0]?.data).toMatchObject({
      argv: [
        'git',
        'clone',
        '--upload-pack',
        "git -c 'safe.directory=*' upload-pack",
        '--depth',
        '1',
        '--',
        `file://${path}`,
        'code/app',
      ],
    })
  })

  it.each([
    ['by URL', 'file://', undefined],
    ['by path', '', undefined],
    ['at a commit', 'file://', 'first'],
  ] as const)('clones a bound repository of another user %s', async (_, prefix, at) => {
    const { place, path, first } = makeRepository()
    // Without a git configuration that trusts it.
    rmSync(join(place, 'gitconfig'))
    if (isRoot) execFileSync('chown', ['-R', '12345:12345', path])
    const sandbox = await prepare(
      { git: { app: { url: `${prefix}${path}`, ...(at && { ref: first }) } } },
      { isolation, binds: [{ source: place }] },
    )
    expect(await say(sandbox, 'cat app/file.txt')).toBe(at === 'first' ? 'one' : 'two')
  })

  it('names the field and the reason if the repository does not exist', async () => {
    const { place, env } = makeRepository()
    const failing = prepare(
      { git: { app: { url: `file://${place}/none.git` } }, env },
      { isolation, binds: [{ source: place }] },
    )
    await expect(failing).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringMatching(
        /\(workspace\.git\.app\).*url: there is no repository at this path.*bind its directory.*none\.git/s,
      ),
      details: { where: 'workspace.git.app' },
    })
  })

  it('names the address and the reason if the server has no such repository, or there is no server', async () => {
    const { port } = await serveNothing()
    const closed = await closedPort()
    for (const [at, host, reason] of [
      [port, 'localhost', 'url: there is no repository at this address'],
      [port, '127.0.0.1', 'url: there is no repository at this address'],
      [closed, '127.0.0.1', `url: no server answers at 127.0.0.1:${closed}; check the address`],
    ] as const) {
      const url = `http://${host}:${at}/repo.git`
      const egress = isolation === 'bubblewrap' ? { egress: [`localhost:${at}`] } : {}
      const error: unknown = await prepare({ git: { app: { url } } }, { isolation, ...egress }).catch(
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject({
        code: 'setup_failed',
        message: expect.stringContaining(`(workspace.git.app): exit code 128. ${reason}`),
        details: { output: expect.stringContaining(url) },
      })
    }
  })

  it('does not take a page for an empty repository', async () => {
    const page = await serveContent('text/html', '<html>Welcome</html>')
    const packet = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text
    const nothing = packet(`${'0'.repeat(40)} capabilities^{}\0agent=test\n`)
    const empty = await serveContent(
      'application/x-git-upload-pack-advertisement',
      `${packet('# service=git-upload-pack\n')}0000${nothing}0000`,
    )
    const cloneFrom = ({ port }: { readonly port: number }) =>
      prepare(
        { git: { app: { url: `http://localhost:${port}/repo.git` } } },
        { isolation, ...(isolation === 'bubblewrap' && { egress: [`localhost:${port}`] }) },
      )
    await expect(cloneFrom(page)).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringContaining('url: the server at this address answers, but not as a git server'),
    })
    expect(await say(await cloneFrom(empty), 'ls -A app')).toBe('.git')
  })

  it('names the host and the reason if there is no network', async () => {
    const url = 'https://git.invalid/owner/name.git'
    const egress = isolation === 'bubblewrap' ? { egress: ['git.invalid:443'] } : {}
    await expect(prepare({ git: { app: { url } } }, { isolation, ...egress })).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringMatching(
        /url: (the host of|no server answers at) git\.invalid:443.*this machine has a network.*owner\/name\.git/s,
      ),
    })
  })

  it.each([
    ['a branch', 'other', 1, 'one|other|1'],
    ['a tag', 'v1', 1, 'one||1'],
    ['all of a branch', 'main', 'full', 'two|main|2'],
  ] as const)('checks out %s', async (_, ref, depth, expected) => {
    const { place, path, env } = makeRepository()
    const sandbox = await prepare(
      { git: { '.': { url: `file://${path}`, ref, depth } }, env },
      { isolation, binds: [{ source: place }] },
    )
    const seen = await say(
      sandbox,
      'echo "$(cat file.txt)|$(git branch --show-current)|$(git rev-list --count HEAD)"',
    )
    expect(seen).toBe(expected)
  })

  it.each([1, 'full'] as const)('checks out a commit by its sha, with a depth of %s', async (depth) => {
    const { place, path, env, first } = makeRepository()
    const sandbox = await prepare(
      { git: { 'a/b': { url: `file://${path}`, ref: first, depth } }, env },
      { isolation, binds: [{ source: place }] },
    )
    expect(
      await say(sandbox, 'cd a/b && cat file.txt && echo && git rev-parse HEAD && git remote get-url origin'),
    ).toBe(`one\n${first}\nfile://${path}`)
  })

  it('fails with the last output of git', async () => {
    const scene = await openScene()
    const { place, path, env } = makeRepository()
    const failing = scene.prepare(
      { git: { app: { url: `file://${path}`, ref: 'nowhere' } }, env },
      { isolation, binds: [{ source: place }] },
    )
    await expect(failing).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringMatching(/"clone app".*nowhere/s),
      details: { step: 1, name: 'clone app', where: 'workspace.git.app', exitCode: 128 },
    })
    expect(scene.left()).toEqual([])
  })

  it('reports a missing git', async () => {
    const scene = await openScene()
    const failing = scene.prepare(
      { git: { app: { url: 'https://h.example/x.git' } }, env: { PATH: '/nowhere' } },
      { isolation },
    )
    await expect(failing).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringContaining('git is not installed in the sandbox'),
      details: { code: 'command_not_found' },
    })
  })

  it('does not clone if the policy denies it', async () => {
    const { place, path, env } = makeRepository()
    const failing = prepare(
      { git: { app: { url: `file://${path}` } }, env },
      {
        isolation,
        binds: [{ source: place }],
        policy: commandPolicy({ deny: ['git clone *'], otherwise: 'allow' }),
      },
    )
    await expect(failing).rejects.toMatchObject({ code: 'setup_failed', details: { code: 'gate_refused' } })
  })

  it('clones with credentials under a policy that allows git', async () => {
    const repository = makeRepository()
    const token = `tok-${newId('operation').slice(3)}`
    const { port } = await serveRepository(repository, token)
    const sandbox = await prepare(
      {
        git: {
          app: {
            url: `http://localhost:${port}/repo.git`,
            depth: 'full',
            credentials: { username: 'me', token },
          },
        },
      },
      { isolation: 'none', policy: commandPolicy({ allow: ['git *', 'ls *'], otherwise: 'deny' }) },
    )
    expect((await sandbox.exec('ls app/.git')).outcome).toBe('ok')
  })

  it('leaves the credentials neither in the workspace nor in the journal', async () => {
    const repository = makeRepository()
    const token = `tok-${newId('operation').slice(3)}`
    const { port, authorizations } = await serveRepository(repository, token)
    const data = folder()
    const file = join(folder(), 'journal')
    const store = await openStore(sqliteStore({ path: file }))
    const sandbox = await prepare(
      {
        git: {
          app: {
            url: `http://localhost:${port}/repo.git`,
            depth: 'full',
            credentials: { username: 'me', token },
          },
        },
        // The output of programs is searched as well, also large output.
        setup: [
          'env',
          'git -C app config --list --show-origin',
          `echo ${token}; echo -n ${token} | base64`,
          `yes ${token} | head -c 3000000`,
        ],
      },
      { isolation, data, store, egress: [`localhost:${port}`] },
    )
    expect(await say(sandbox, 'cat app/file.txt')).toBe('two')
    expect(new Set(authorizations)).toEqual(
      new Set([`Basic ${Buffer.from(`me:${token}`).toString('base64')}`]),
    )
    const kept = bytesBelow(data)
    const { events } = await sandbox.journal.read({ limit: 1_000 })
    const journaled = JSON.stringify(events)
    await sandbox.close()
    await store.close()
    const stored = bytesBelow(join(file, '..'))
    expect(journaled.includes('[redacted:git-token]')).toBe(true)
    for (const form of formsOf(token))
      for (const place of [kept, journaled, stored]) expect(place.includes(form)).toBe(false)
  })

  it('masks the credentials after a restart too, until the sandbox is destroyed', async () => {
    const repository = makeRepository()
    const token = `tok-${newId('operation').slice(3)}`
    const { port } = await serveRepository(repository, token)
    const data = folder()
    const kept = folder()
    const open = () =>
      openStore(sqliteStore({ path: join(kept, 'store', 'journal') }), {
        secrets: secretsFile({ path: join(kept, 'secrets.jsonl'), key: join(kept, 'keys', 'secrets.key') }),
      })
    const logged = async (store: Store) => {
      const journal = await store.journal('sbx_other')
      const [event] = await journal.append([{ type: 'log.message', data: { level: 'info', message: token } }])
      return event?.data.message
    }
    const store = await open()
    const url = `http://localhost:${port}/repo.git`
    const sandbox = await prepare(
      { git: { app: { url, depth: 'full', credentials: { username: 'me', token } } } },
      { isolation, data, store, egress: [`localhost:${port}`] },
    )
    const { id } = sandbox
    await sandbox.close()
    await store.close()
    const next = await open()
    expect(await logged(next)).toBe('[redacted:git-token]')
    next.forgetSecretsOf(id)
    await next.close()
    const last = await open()
    expect(await logged(last)).toBe(token)
    await last.close()
  })

  it('masks credentials that a server echoes in the error', async () => {
    const scene = await openScene()
    const repository = makeRepository()
    const token = 'tok-hunter-two-and-twenty'
    const { port } = await serveRepository(repository, token, (said) => `you sent ${said} that is ${token}\n`)
    const failing = scene.prepare(
      { git: { app: { url: `http://localhost:${port}/repo.git`, depth: 'full', credentials: { token } } } },
      { isolation, egress: [`localhost:${port}`] },
    )
    const error = await failing.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'setup_failed', message: expect.stringContaining('you sent') })
    const told = JSON.stringify([await scene.events(), String(error), Reflect.get(Object(error), 'details')])
    for (const form of formsOf(token)) expect(told.includes(form)).toBe(false)
    let cause: unknown = error
    while (cause instanceof Error) {
      expect(cause.message).not.toContain(token)
      cause = cause.cause
    }
  })
})

it('fails without a prompt if a server requires a password', async () => {
  const repository = makeRepository()
  const { port, authorizations } = await serveRepository(repository, 'something')
  await expect(
    prepare(
      { git: { app: { url: `http://localhost:${port}/repo.git`, depth: 'full' } } },
      { isolation: 'none' },
    ),
  ).rejects.toMatchObject({
    code: 'setup_failed',
    message: expect.stringContaining('terminal prompts disabled'),
  })
  expect(authorizations).toEqual([])
})

it('sends credentials to no other server after a redirect', async () => {
  const repository = makeRepository()
  const token = 'tok-for-one-server-only'
  const other = await serveRepository(repository, token)
  const first = await redirectTo(`http://localhost:${other.port}`)
  const url = `http://localhost:${first.port}/repo.git`
  await expect(
    prepare({ git: { app: { url, depth: 'full', credentials: { token } } } }, { isolation: 'none' }),
  ).rejects.toMatchObject({ code: 'setup_failed' })
  expect(first.requests()).toBeGreaterThan(0)
  expect(other.authorizations).toEqual([])
})

it('keeps git settings from the environment', async () => {
  const repository = makeRepository()
  const token = 'tok-beside-other-settings'
  const { port } = await serveRepository(repository, token)
  const url = `http://localhost:${port}`
  const sandbox = await prepare(
    {
      git: {
        app: { url: 'https://h.example/repo.git', depth: 'full' },
        two: { url: `${url}/repo.git`, depth: 'full', credentials: { token } },
      },
      env: {
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: `url.file://${repository.place}/.insteadOf`,
        GIT_CONFIG_VALUE_0: 'https://h.example/',
      },
    },
    { isolation: 'none' },
  )
  expect(await say(sandbox, 'cat app/file.txt two/file.txt')).toBe('twotwo')
})

it('unregisters the secrets with the sandbox, so that the store does not accumulate them', async () => {
  const scene = await openScene()
  const repository = makeRepository()
  const token = 'tok-forgotten-afterwards'
  const { port } = await serveRepository(repository, token)
  const sandbox = await scene.prepare(
    { git: { app: { url: `http://localhost:${port}/repo.git`, depth: 'full', credentials: { token } } } },
    { isolation: 'none' },
  )
  expect((await sandbox.exec(`echo ${token}`)).stdout).toContain(token)
  const received = async () => JSON.stringify((await scene.events()).at(-1)?.data)
  const journal = await scene.store.journal(scene.id)
  await journal.append([{ type: 'log.message', data: { level: 'info', message: token } }])
  expect(await received()).not.toContain(token)
  await sandbox.close()
  await journal.append([{ type: 'log.message', data: { level: 'info', message: token } }])
  expect(await received()).toContain(token)
})

describe.skipIf(!hasBubblewrap)('a repository that the sandbox may not reach', () => {
  it.each([
    ['https://git.example/owner/name.git', 'git.example:443'],
    ['git@git.example:owner/name.git', 'git.example:22'],
  ])('fails with the egress entry that would allow %s', async (url, entry) => {
    const failing = prepare({ git: { app: { url } } }, { isolation: 'bubblewrap' })
    await expect(failing).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringContaining(`may not reach ${entry}; allow it with egress: ['${entry}']`),
    })
  })
})
