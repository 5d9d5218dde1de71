import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { packageFolders, root } from './tools.ts'

/**
 * The arrows: which package may import which. Any other import, and a package that is not listed, is refused. Packages
 * that do not exist yet are listed too, so that their place is decided before they are written.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  views: ['protocol'],
  journal: ['protocol'],
  'command-policy': ['protocol'],
  archives: ['protocol'],
  egress: ['protocol'],
  sandbox: ['protocol', 'journal', 'command-policy', 'archives', 'egress'],
  agents: ['protocol', 'views', 'journal', 'sandbox'],
  desktop: ['protocol', 'journal', 'sandbox'],
  snapshots: ['protocol', 'journal', 'sandbox'],
  host: ['protocol', 'views', 'journal', 'sandbox', 'agents', 'desktop', 'snapshots'],
  runtime: ['protocol', 'views', 'journal', 'host'],
  server: ['protocol', 'views', 'journal', 'host'],
  client: ['protocol', 'views', 'archives'],
  providers: ['protocol', 'client'],
  react: ['protocol', 'views', 'client'],
  interop: ['protocol', 'client', 'host', 'runtime'],
  cli: ['protocol', 'views', 'journal', 'host', 'client', 'server'],
  vitrine: ['protocol', 'views', 'journal', 'host', 'runtime', 'client', 'server', 'cli'],
}

/** Packages that must run in a browser. */
const browserSafe = new Set(['protocol', 'views', 'command-policy', 'client', 'react'])

export interface SourceFile {
  readonly package: string
  readonly path: string
  readonly imports: readonly string[]
}

/** A sentence for each import that the table does not allow. */
export function forbiddenArrows(
  files: readonly SourceFile[],
  dependencies: Readonly<Record<string, readonly string[]>>,
): string[] {
  const complaints: string[] = []
  for (const [name, used] of Object.entries(dependencies)) {
    if (!Object.hasOwn(allowed, name))
      complaints.push(`packages/${name}: not in the table of scripts/arrows.ts`)
    for (const other of used) {
      if (!allowed[name]?.includes(other))
        complaints.push(`packages/${name}/package.json: depends on the package ${other}`)
    }
  }
  for (const { package: name, path, imports } of files) {
    for (const specifier of imports) {
      const other = packageOf(specifier)
      if (other !== undefined && other !== name && !allowed[name]?.includes(other)) {
        complaints.push(
          `${path}: imports ${specifier}, but ${name} may use only ${allowed[name]?.join(', ') || 'nothing'}`,
        )
      } else if (other !== undefined && browserSafe.has(name) && !browserSafe.has(other) && !isForNode(path))
        complaints.push(`${path}: imports ${specifier}, but runs in browsers`)
      if (browserSafe.has(name) && !isForNode(path) && specifier.startsWith('node:'))
        complaints.push(`${path}: imports ${specifier}, but runs in browsers`)
      if (/^(\.\.\/)+(packages|conformance|bench|scripts)\b/.test(specifier))
        complaints.push(`${path}: reaches out of its package with ${specifier}`)
    }
  }
  return complaints
}

/** The folder of the package that a specifier names, if it is one of ours. */
function packageOf(specifier: string): string | undefined {
  const [, scoped, front] = /^(?:@vitrine\/([a-z-]+)|(vitrine))(?:\/|$)/.exec(specifier) ?? []
  return scoped ?? front
}

/** Whether a file belongs to the part of a package that has its own entry for Node. */
function isForNode(path: string): boolean {
  return /^packages\/[\w-]+\/src\/node\//.test(path)
}

/** The specifiers that a source file imports, statically or not. */
export function importsOf(source: string): string[] {
  return [
    ...source.matchAll(
      /(?:^|[\s;}])(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g,
    ),
  ].map(([, from, bare]) => from ?? bare ?? '')
}

/**
 * A sentence for each cycle of imports between the folders of a package. A file directly in `src` is a folder of its own
 * here; `index.ts` only lists exports.
 */
export function folderCycles(files: readonly SourceFile[]): string[] {
  return Object.entries(Object.groupBy(files, (file) => file.package)).flatMap(([name, own = []]) => {
    const source = `packages/${name}/src`
    const imports = new Map<string, Set<string>>()
    for (const { path, imports: specifiers } of own) {
      const from = folderOf(source, path)
      if (from === 'index.ts') continue
      const used = imports.get(from) ?? new Set()
      imports.set(from, used)
      for (const specifier of specifiers.filter((one) => one.startsWith('.'))) {
        const to = folderOf(source, join(path, '..', specifier))
        if (to !== from) used.add(to)
      }
    }
    return cyclesIn(imports).map((cycle) => `${source}: import cycle ${[...cycle, cycle[0]].join(' -> ')}`)
  })
}

function folderOf(source: string, path: string): string {
  const [first = '', ...rest] = relative(source, path).split('/')
  return rest.length === 0 ? first : `${first}/`
}

/** One cycle for each node that is on one and was not in an earlier one. */
function cyclesIn(imports: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const cycles: string[][] = []
  const covered = new Set<string>()
  for (const start of [...imports.keys()].toSorted()) {
    if (covered.has(start)) continue
    const cycle = shortestCycle(imports, start)
    if (cycle === undefined) continue
    for (const folder of cycle) covered.add(folder)
    cycles.push(cycle)
  }
  return cycles
}

function shortestCycle(
  imports: ReadonlyMap<string, ReadonlySet<string>>,
  start: string,
): string[] | undefined {
  const queue: string[][] = [[start]]
  const seen = new Set<string>()
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const next of imports.get(path.at(-1) ?? start) ?? []) {
      if (next === start) return path
      if (seen.has(next)) continue
      seen.add(next)
      queue.push([...path, next])
    }
  }
  return undefined
}

export function readRepo(): { files: SourceFile[]; dependencies: Record<string, string[]> } {
  const files: SourceFile[] = []
  const dependencies: Record<string, string[]> = {}
  for (const name of packageFolders()) {
    const folder = join(root, 'packages', name)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    dependencies[name] = Object.keys(manifest.dependencies ?? {}).flatMap(
      (dependency) => packageOf(dependency) ?? [],
    )
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
