import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { packageFolders, root } from './tools.ts'

/** Which package may use which: the house plan. What is not drawn is not allowed. */
const house: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  views: ['protocol'],
  journal: ['protocol'],
  sandbox: ['protocol', 'journal'],
  agents: ['protocol', 'views', 'journal', 'sandbox'],
  desktop: ['protocol', 'journal', 'sandbox'],
  snapshots: ['protocol', 'journal', 'sandbox'],
  host: ['protocol', 'journal', 'sandbox', 'agents', 'desktop', 'snapshots'],
  runtime: ['protocol', 'views', 'host'],
  server: ['protocol', 'views', 'journal', 'host'],
  client: ['protocol', 'views'],
  providers: ['protocol', 'client'],
  react: ['protocol', 'views', 'client'],
  interop: ['protocol', 'client', 'host', 'runtime'],
  cli: ['protocol', 'views', 'journal', 'host', 'client', 'server'],
  vitrine: ['protocol', 'views', 'journal', 'host', 'runtime', 'client', 'server', 'cli'],
}

/** Packages that must run in a browser. */
const browserSafe = new Set(['protocol', 'views', 'client', 'react'])

export interface SourceFile {
  readonly package: string
  readonly path: string
  readonly imports: readonly string[]
}

/** Every import that the plan does not allow, as a sentence. */
export function forbiddenArrows(
  files: readonly SourceFile[],
  dependencies: Readonly<Record<string, readonly string[]>>,
): string[] {
  const complaints: string[] = []
  for (const [name, used] of Object.entries(dependencies)) {
    if (!Object.hasOwn(house, name))
      complaints.push(`packages/${name}: not in the house plan of scripts/arrows.ts`)
    for (const other of used) {
      if (!house[name]?.includes(other))
        complaints.push(`packages/${name}/package.json: depends on @vitrine/${other}`)
    }
  }
  for (const { package: name, path, imports } of files) {
    for (const specifier of imports) {
      const other = /^@vitrine\/([a-z]+)/.exec(specifier)?.[1]
      if (other !== undefined && other !== name && !house[name]?.includes(other)) {
        complaints.push(
          `${path}: imports ${specifier}, but ${name} may use only ${house[name]?.join(', ') || 'nothing'}`,
        )
      }
      if (browserSafe.has(name) && !isForNode(path) && specifier.startsWith('node:'))
        complaints.push(`${path}: imports ${specifier}, but runs in browsers`)
      if (/^(\.\.\/)+(packages|conformance|bench|scripts)\b/.test(specifier))
        complaints.push(`${path}: reaches out of its package with ${specifier}`)
    }
  }
  return complaints
}

/** A part of a package that has an entry of its own for Node. */
function isForNode(path: string): boolean {
  return /^packages\/\w+\/src\/node\//.test(path)
}

/** What a source file imports, statically or not. */
export function importsOf(source: string): string[] {
  return [
    ...source.matchAll(
      /(?:^|[\s;}])(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g,
    ),
  ].map(([, from, bare]) => from ?? bare ?? '')
}

export function readRepo(): { files: SourceFile[]; dependencies: Record<string, string[]> } {
  const files: SourceFile[] = []
  const dependencies: Record<string, string[]> = {}
  for (const name of packageFolders()) {
    const folder = join(root, 'packages', name)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    dependencies[name] = Object.keys(manifest.dependencies ?? {})
      .filter((dependency) => dependency.startsWith('@vitrine/'))
      .map((dependency) => dependency.replace('@vitrine/', ''))
    for (const path of globSync('src/**/*.{ts,tsx}', { cwd: folder })) {
      const file = join(folder, path)
      files.push({
        package: name,
        path: relative(root, file),
        imports: importsOf(readFileSync(file, 'utf8')),
      })
    }
  }
  return { files, dependencies }
}
