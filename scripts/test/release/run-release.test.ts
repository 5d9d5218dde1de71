import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type ReleaseOptions, runRelease } from '../../release/run-release.ts'

/** A repository of three packages, one of them private: `a` depends on `z`. */
const repository = {
  'package.json': {
    private: true,
    workspaces: ['packages/*'],
    scripts: {
      pack: 'mkdir -p .tmp/packs && npm pack ./packages/[az] --pack-destination .tmp/packs > .tmp/log',
    },
  },
  'package-lock.json': { packages: { 'packages/a': { version: '0.1.0' } } },
  'packages/a/package.json': { name: '@scope/a', version: '0.1.0', dependencies: { '@scope/z': '0.1.0' } },
  'packages/z/package.json': { name: '@scope/z', version: '0.1.0' },
  'packages/kit/package.json': { name: '@scope/kit', version: '0.1.0', private: true },
  'packages/protocol/src/version.ts': "export const version = '0.1.0'\n",
  'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n- One.\n',
  '.gitignore': '.tmp/\n',
  '.npmrc': 'loglevel=silent\n',
}

function createRepository(changed: Partial<Record<keyof typeof repository, unknown>> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'vitrine-release-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trimEnd()
  const write = (path: string, content: unknown) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
  for (const [path, content] of Object.entries({ ...repository, ...changed })) write(path, content)
  git('init', '--quiet')
  git('config', 'user.name', 'Test')
  git('config', 'user.email', 'test@example.com')
  git('add', '.')
  git('commit', '--quiet', '--message', 'Begin')
  const printed: string[] = []
  const release = (wanted: string, mode: ReleaseOptions['mode']) =>
    runRelease({ root, wanted, date: '2026-01-02', mode, print: (line) => printed.push(line) })
  return {
    root,
    git,
    write,
    release,
    printed,
    read: (path: string) => readFileSync(join(root, path), 'utf8'),
  }
}

it('sets versions and changelog, packs, commits, tags and prints how to publish in the order of dependencies', async () => {
  const { root, git, read, release, printed } = createRepository()
  await release('minor', 'commit')
  expect(git('status', '--porcelain')).toBe('')
  expect(git('log', '--format=%s %D').split('\n')[0]).toMatch(/^Release 0\.2\.0 .*tag: v0\.2\.0/)
  expect(JSON.parse(read('packages/a/package.json'))).toEqual({
    name: '@scope/a',
    version: '0.2.0',
    dependencies: { '@scope/z': '0.2.0' },
  })
  expect(read('packages/protocol/src/version.ts')).toContain("'0.2.0'")
  expect(read('CHANGELOG.md')).toContain('## [Unreleased]\n\n## [0.2.0] - 2026-01-02\n\n- One.')
  expect(existsSync(join(root, '.tmp/packs/scope-a-0.2.0.tgz'))).toBe(true)
  expect(printed.slice(-2)).toEqual([
    '  npm publish .tmp/packs/scope-z-0.2.0.tgz --access public',
    '  npm publish .tmp/packs/scope-a-0.2.0.tgz --access public',
  ])
})

it('a dry run prints every step and changes nothing', async () => {
  const { root, git, release, printed } = createRepository()
  await release('0.1.1', 'plan')
  expect(printed).toEqual([
    'Release 0.1.1',
    '  write    packages/a/package.json',
    '  write    packages/kit/package.json',
    '  write    packages/z/package.json',
    '  write    package-lock.json',
    '  write    packages/protocol/src/version.ts',
    '  write    CHANGELOG.md',
    '  run      npm run pack',
    '  commit   "Release 0.1.1", with the tag v0.1.1',
    '  publish  npm publish .tmp/packs/scope-z-0.1.1.tgz --access public',
    '  publish  npm publish .tmp/packs/scope-a-0.1.1.tgz --access public',
    'A dry run: nothing was changed.',
  ])
  expect([git('status', '--porcelain'), git('tag'), git('log', '--format=%s')]).toEqual(['', '', 'Begin'])
  expect(existsSync(join(root, '.tmp'))).toBe(false)
})

it('refuses a tree with changes and a tag that exists, also in a dry run', async () => {
  const { git, write, release } = createRepository()
  write('new.txt', 'new')
  await expect(release('patch', 'plan')).rejects.toThrow(
    'The working tree has changes. Commit or stash them first:\n?? new.txt',
  )
  git('add', '.')
  git('commit', '--quiet', '--message', 'Add')
  git('tag', 'v0.1.1')
  await expect(release('patch', 'commit')).rejects.toThrow('The tag v0.1.1 exists. Release a higher version')
})

it('leaves the tree as it was if packing fails', async () => {
  const manifest = { ...repository['package.json'], scripts: { pack: 'exit 1' } }
  const { git, release } = createRepository({ 'package.json': manifest })
  await expect(release('patch', 'commit')).rejects.toThrow('"npm run pack" failed.')
  expect([git('status', '--porcelain'), git('tag'), git('log', '--format=%s')]).toEqual(['', '', 'Begin'])
})

it('publishes in the order of dependencies and lists the packages that are left if one is refused', async () => {
  const requests: string[] = []
  const registry = createServer((request, response) => {
    if (request.method === 'PUT') requests.push(decodeURIComponent(request.url!))
    request.resume().on('end', () => {
      response.statusCode = request.method !== 'PUT' ? 404 : request.url!.includes('z') ? 201 : 403
      response.end('{}')
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void registry.close())
  await once(registry, 'listening')
  const host = `127.0.0.1:${(registry.address() as AddressInfo).port}`

  // The settings of the packages win over those of the machine: nothing can be published elsewhere.
  const publishConfig = { registry: `http://${host}`, '@scope:registry': `http://${host}` }
  const { release, git } = createRepository({
    'packages/a/package.json': { ...repository['packages/a/package.json'], publishConfig },
    'packages/z/package.json': { ...repository['packages/z/package.json'], publishConfig },
    '.npmrc': `${repository['.npmrc']}//${host}/:_authToken=a-token\n`,
  })
  await expect(release('patch', 'publish')).rejects.toThrow(
    'These are not published yet:\n  npm publish .tmp/packs/scope-a-0.1.1.tgz --access public',
  )
  expect(requests).toEqual(['/@scope/z', '/@scope/a'])
  expect(git('tag')).toBe('v0.1.1')
})
