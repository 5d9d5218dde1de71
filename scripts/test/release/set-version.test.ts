import { expect, it } from 'vitest'
import { setConstantVersion, setLockVersion, setManifestVersion } from '../../release/set-version.ts'

const names = new Set(['@scope/one', '@scope/two'])
const text = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
const manifest = (version: string) => ({
  name: '@scope/one',
  version,
  dependencies: { '@scope/two': version, zod: '0.1.0' },
  devDependencies: { '@scope/two': version },
})

it('sets the version of a package and of the packages of the repository that it depends on', () => {
  expect(setManifestVersion(text(manifest('0.1.0')), '0.2.0', names)).toBe(text(manifest('0.2.0')))
})

it('adds no version to a package without one', () => {
  const root = text({ name: 'root', private: true })
  expect(setManifestVersion(root, '0.2.0', names)).toBe(root)
})

it('sets the version of workspaces in a lock file, and of nothing that is installed', () => {
  const lock = (version: string) =>
    text({
      lockfileVersion: 3,
      packages: {
        '': { name: 'root' },
        'node_modules/zod': { version: '0.1.0' },
        'node_modules/@scope/one': { resolved: 'packages/one', link: true },
        'packages/one': manifest(version),
        'packages/one/node_modules/ws': { version: '0.1.0' },
      },
    })
  expect(setLockVersion(lock('0.1.0'), '0.2.0', names)).toBe(lock('0.2.0'))
})

it('sets the version in a module', () => {
  const source = (version: string) => `/** The version. */\nexport const version = '${version}'\n`
  expect(setConstantVersion(source('0.1.0'), '0.2.0')).toBe(source('0.2.0'))
})
