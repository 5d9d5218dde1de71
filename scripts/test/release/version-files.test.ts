import { version } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { readManifests, versionFiles } from '../../release/version-files.ts'
import { root } from '../../tools.ts'

it('finds every package of this repository, the lock file and the constant', () => {
  const files = versionFiles(root, '99.0.0')
  expect([...files.keys()]).toEqual([
    ...readManifests(root).keys(),
    'package-lock.json',
    'packages/protocol/src/version.ts',
  ])
  const stale = new RegExp(`"(?:@vitrine/[a-z-]+|vitrine)": "${version}"|version = '${version}'`)
  for (const [path, content] of files) expect(content, path).not.toMatch(stale)
})

it('changes no byte of this repository if the version is the current one', () => {
  expect(versionFiles(root, version)).toEqual(new Map())
})
