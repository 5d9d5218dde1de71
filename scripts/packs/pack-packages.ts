import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { packageFolders, root } from '../tools.ts'
import { type Manifest, publishedManifest } from './published-manifest.ts'

/** The folder of the packed files. Nothing else is in it, so that a pattern can name them all. */
export const packsFolder = join(root, '.tmp', 'packs')

export interface PackedPackage {
  readonly manifest: Manifest
  /** The path of the packed file. */
  readonly path: string
  readonly bytes: number
  /** The paths in it. */
  readonly contents: readonly string[]
}

interface NpmPackReport {
  readonly name: string
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

/** Packs every built package. */
export function packPackages(): PackedPackage[] {
  rmSync(packsFolder, { recursive: true, force: true })
  const staging = join(packsFolder, 'staging')
  const folders = packageFolders().map((name) => join(staging, name))
  const manifests = folders.map((folder) => stage(join(root, 'packages', basename(folder)), folder))
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['pack', '--json', '--pack-destination', packsFolder, ...folders],
    { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' },
  )
  if (status !== 0) throw new Error(`"npm pack" failed: ${stderr}`)
  rmSync(staging, { recursive: true })
  // A list, or an object by name: it depends on the version of npm.
  const reports = Object.values<NpmPackReport>(JSON.parse(stdout))
  return reports.map(({ name, filename, size, files }) => ({
    manifest: manifests.find((manifest) => manifest.name === name)!,
    path: join(packsFolder, filename),
    bytes: size,
    contents: files.map(({ path }) => path),
  }))
}

/** Copies a package without its sources and writes the manifest that is published. */
function stage(from: string, folder: string): Manifest {
  const leftOut = new Set(['src', 'test', 'node_modules'])
  mkdirSync(folder, { recursive: true })
  cpSync(from, folder, {
    recursive: true,
    filter: (path) => dirname(path) !== from || !leftOut.has(basename(path)),
  })
  const manifest = publishedManifest(JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}
