import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readManifest } from '../../src/workspace/read-manifest.ts'

describe('a manifest', () => {
  it('accepts an empty manifest', () => {
    expect(readManifest({})).toEqual({
      groups: [],
      users: [],
      directories: [],
      files: [],
      copy: [],
      git: [],
      env: {},
      setup: [],
      concurrency: 4,
    })
  })

  it('reads a complete manifest and fills in all defaults', () => {
    const bytes = new Uint8Array([1])
    const plan = readManifest({
      files: { './a//b': 'x', 'a/c': { content: bytes, mode: 0o600 } },
      directories: ['d/e', { path: 'd', mode: 0o700 }, 'a'],
      copy: { lib: '/srv/lib', one: { source: 'x', ignore: ['*.o'] } },
      git: {
        app: { url: 'https://h.example/a.git', ref: 'main', credentials: { token: 'token' } },
        old: { url: 'ssh://git@h.example/a.git', ref: 'A'.repeat(40), depth: 'full' },
      },
      users: ['ann', { name: 'bob', groups: ['dev'] }],
      groups: ['ops', 'ops'],
      env: { A: '' },
      setup: [
        'ls',
        ['echo', '', 'x'],
        { parallel: ['a', { parallel: [{ run: 'b', name: 'B', timeoutMs: 5 }] }] },
      ],
      concurrency: 1,
    })
    expect(plan).toMatchObject({
      files: [
        { path: 'a/b', content: 'x', mode: undefined },
        { path: 'a/c', content: bytes, mode: 0o600 },
      ],
      copy: [
        { path: 'lib', source: '/srv/lib', ignore: [] },
        { path: 'one', source: 'x', ignore: ['*.o'] },
      ],
      git: [
        {
          path: 'app',
          ref: { kind: 'name', text: 'main' },
          depth: 1,
          credentials: { username: 'git', token: 'token', origin: 'https://h.example' },
        },
        { path: 'old', ref: { kind: 'commit' }, depth: undefined, credentials: undefined },
      ],
      groups: ['ops', 'dev'],
      users: [
        { name: 'ann', groups: [] },
        { name: 'bob', groups: ['dev'] },
      ],
      env: { A: '' },
      concurrency: 1,
    })
    // Outer directories first, so that each mode applies to its own directory.
    expect(plan.directories.map(({ path }) => path)).toEqual(['d', 'a', 'd/e'])
    expect(plan.setup.map((group) => group.map(({ name, field }) => [name, field]))).toEqual([
      [['ls', 'workspace.setup[0]']],
      [['echo x', 'workspace.setup[1]']],
      [
        ['a', 'workspace.setup[2].parallel[0]'],
        ['B', 'workspace.setup[2].parallel[1].parallel[0]'],
      ],
    ])
  })

  const refused: readonly [named: string, manifest: unknown][] = [
    ['workspace', null],
    ['workspace', ['ls']],
    ['workspace: unknown key "file"; did you mean "files"?', { file: {} }],
    ['workspace.files', { files: new Map([['a', 'b']]) }],
    ['workspace.files["../a"]', { files: { '../a': '' } }],
    ['workspace.files["/etc/x"]', { files: { '/etc/x': '' } }],
    ['workspace.files["."]', { files: { '.': '' } }],
    ['workspace.files.a.content', { files: { a: {} } }],
    ['workspace.files.a.mode', { files: { a: { content: '', mode: 0o4755 } } }],
    [
      'workspace.files.a: unknown key "contents"; did you mean "content"?',
      { files: { a: { contents: '' } } },
    ],
    ['workspace.files["a/b"]: it is inside workspace.files.a', { files: { a: '', 'a/b': '' } }],
    ['workspace.files["a/b"]: it is inside workspace.files.a', { files: { 'a/b': '', a: '' } }],
    ['workspace.files["./a"]: it is at the same path as workspace.files.a', { files: { a: '', './a': '' } }],
    ['workspace.directories[1]', { directories: ['a', 'a'] }],
    ['workspace.directories[0]', { directories: ['.'] }],
    ['workspace.files.a', { directories: ['a'], files: { a: '' } }],
    ['workspace.files.x: it is inside workspace.git["."]', { files: { x: '' }, git: { '.': { url: 'u' } } }],
    [
      'workspace.directories[0]: it is inside workspace.git.a',
      { directories: ['a/b'], git: { a: { url: 'u' } } },
    ],
    [
      'workspace.git["a/b"]: it is inside workspace.copy.a',
      { copy: { a: 'x' }, git: { 'a/b': { url: 'u' } } },
    ],
    ['workspace.copy.a', { copy: { a: '' } }],
    ['workspace.copy.a.ignore[0]', { copy: { a: { source: 'x', ignore: [1] } } }],
    ['workspace.git.a.url', { git: { a: {} } }],
    ['workspace.git.a.url', { git: { a: { url: 'a b' } } }],
    ['workspace.git.a.url', { git: { a: { url: 'https://someone:hunter22@h/x' } } }],
    ['workspace.git.a.url', { git: { a: { url: 'https://hunter22@h/x' } } }],
    ['workspace.git.a.ref', { git: { a: { url: 'u', ref: '--upload-pack=x' } } }],
    ['workspace.git.a.ref', { git: { a: { url: 'u', ref: 'a:b' } } }],
    ['workspace.git.a.depth', { git: { a: { url: 'u', depth: 0 } } }],
    ['workspace.git.a.depth', { git: { a: { url: 'u', depth: 'all' } } }],
    [
      'workspace.git.a.credentials',
      { git: { a: { url: 'http://h/x', credentials: { token: 'hunter22' } } } },
    ],
    ['workspace.git.a.credentials', { git: { a: { url: 'git@h:x', credentials: { token: 'hunter22' } } } }],
    [
      'workspace.git.a.credentials.token',
      { git: { a: { url: 'https://h/x', credentials: { token: 'x' } } } },
    ],
    [
      'workspace.git.a.credentials.token',
      { git: { a: { url: 'https://h/x', credentials: { token: 'hunter22\nx' } } } },
    ],
    ['workspace.users[0]', { users: ['-x'] }],
    ['workspace.users[0].groups[0]', { users: [{ name: 'x', groups: ['a,b'] }] }],
    ['workspace.users', { users: ['x', { name: 'x' }] }],
    ['workspace.groups[0]', { groups: ['A'] }],
    ['workspace.env.A', { env: { A: 5 } }],
    ['workspace.env', { env: { 'A=B': '' } }],
    ['workspace.env', { env: { A: '\0' } }],
    ['workspace.setup', { setup: 'ls' }],
    ['workspace.setup[0]', { setup: [''] }],
    ['workspace.setup[0]', { setup: [[]] }],
    ['workspace.setup[0][1]', { setup: [['a', 1]] }],
    ['workspace.setup[0].run', { setup: [{ name: 'x' }] }],
    ['workspace.setup[0].timeoutMs', { setup: [{ run: 'x', timeoutMs: 0 }] }],
    ['workspace.setup[0].env', { setup: [{ run: 'x', env: [] }] }],
    ['workspace.setup[0]: unknown key "parallel"', { setup: [{ run: 'x', parallel: [] }] }],
    ['workspace.setup[0].parallel[1]', { setup: [{ parallel: ['x', null] }] }],
    ['workspace.concurrency', { concurrency: 0 }],
  ]
  it.each(refused)('refuses an invalid manifest and names the field: %s', (named, manifest) => {
    expect(() => readManifest(manifest)).toThrow(
      expect.objectContaining({ code: 'argument_invalid', message: expect.stringContaining(named) }),
    )
  })

  it('never shows secrets in an error', () => {
    for (const [, manifest] of refused) {
      try {
        readManifest(manifest)
      } catch (error) {
        expect(String(error)).not.toContain('hunter22')
      }
    }
  })

  it('reads any input or refuses it with a code', () => {
    const value = fc.oneof(
      fc.anything({ withBigInt: true, withMap: true, withTypedArray: true, withNullPrototype: true }),
      fc.constantFrom('a', 'a/b', '..', ['ls'], { run: 'ls' }, { parallel: [] }),
    )
    const keys = ['files', 'directories', 'local', 'git', 'users', 'groups', 'env', 'setup', 'concurrency']
    const field = fc.oneof(
      value,
      fc.array(value, { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'a/b', '.', '../x'), value),
    )
    const manifest = fc.oneof(value, fc.dictionary(fc.constantFrom(...keys), field))
    fc.assert(
      fc.property(manifest, (given) => {
        try {
          readManifest(given)
        } catch (error) {
          expect(error).toMatchObject({
            code: 'argument_invalid',
            message: expect.stringMatching(/^workspace/),
          })
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
