import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { releaseEntries } from './changelog.ts'
import { nextVersion } from './next-version.ts'
import { publishOrder } from './publish-order.ts'
import { readManifests, versionFiles } from './version-files.ts'

export interface ReleasePlan {
  readonly version: string
  readonly tag: string
  /** The content of the files that change, by path. */
  readonly files: ReadonlyMap<string, string>
  /** The packed files in the order of their publication. */
  readonly packs: readonly string[]
}

/** The steps of a release of the repository in `root`. Changes nothing. */
export function planRelease(root: string, wanted: string, date: string): ReleasePlan {
  const manifests = [...readManifests(root).values()].filter((manifest) => manifest.private !== true)
  const version = nextVersion(manifests[0]!.version, wanted)
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  return {
    version,
    tag: `v${version}`,
    files: versionFiles(root, version).set('CHANGELOG.md', releaseEntries(changelog, version, date)),
    packs: publishOrder(manifests).map(({ name }) => `.tmp/packs/${packName(name)}-${version}.tgz`),
  }
}

/** The name that npm gives to the file of a package: `@scope/one` becomes `scope-one`. */
function packName(name: string): string {
  return name.replace(/^@/, '').replace('/', '-')
}
