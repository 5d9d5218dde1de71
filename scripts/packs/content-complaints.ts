import type { Manifest } from './published-manifest.ts'

interface Content {
  readonly manifest: Manifest
  readonly contents: readonly string[]
}

const required = ['package.json', 'README.md', 'LICENSE']
const unwanted = /(?:^|\/)(?:src|test|node_modules)\/|\.tsbuildinfo$|(?<!\.d)\.ts$/

/** A sentence for each file that a packed package lacks, and for each that does not belong into it. */
export function contentComplaints({ manifest, contents }: Content): string[] {
  const needed = [...required, ...pathsIn([manifest.exports, manifest.imports, manifest.bin])]
  return [
    ...needed
      .filter((path) => !contents.includes(path))
      .map((path) => `${manifest.name}: the packed file lacks ${path}.`),
    ...contents
      .filter((path) => unwanted.test(path))
      .map((path) => `${manifest.name}: the packed file must not contain ${path}.`),
  ]
}

/** The relative paths in a part of a manifest, at any depth. */
function pathsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('./') ? [value.slice(2)] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(pathsIn) : []
}
