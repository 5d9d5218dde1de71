import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setConstantVersion, setLockVersion, setManifestVersion } from './set-version.ts'

/** The `package.json` of a workspace. */
export interface WorkspaceManifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}

const versionModule = 'packages/protocol/src/version.ts'

/** The manifests of the repository's packages, by path. */
export function readManifests(root: string): Map<string, WorkspaceManifest> {
  const { workspaces }: { readonly workspaces: string[] } = readJson(root, 'package.json')
  const patterns = workspaces.map((folder) => `${folder}/package.json`)
  const paths = globSync(patterns, { cwd: root }).toSorted()
  return new Map(paths.map((path) => [path, readJson(root, path)]))
}

/** The files that change if the repository gets the version. Building writes it into the OpenAPI document. */
export function versionFiles(root: string, version: string): Map<string, string> {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const manifests = readManifests(root)
  const names = new Set([...manifests.values()].map(({ name }) => name))
  const written = new Map([
    ...[...manifests.keys()].map((path) => [path, setManifestVersion(read(path), version, names)] as const),
    ['package-lock.json', setLockVersion(read('package-lock.json'), version, names)],
    [versionModule, setConstantVersion(read(versionModule), version)],
  ])
  return new Map([...written].filter(([path, content]) => content !== read(path)))
}

function readJson(root: string, path: string) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}
