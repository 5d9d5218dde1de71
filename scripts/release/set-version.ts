interface Manifest {
  readonly version?: string
  readonly [field: string]: unknown
}

const dependencyFields = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']

/** A `package.json` with the version, also of the packages in `names` that it depends on. */
export function setManifestVersion(text: string, version: string, names: ReadonlySet<string>): string {
  return print(withVersion(JSON.parse(text), version, names))
}

/** A `package-lock.json` with the version for all workspaces. */
export function setLockVersion(text: string, version: string, names: ReadonlySet<string>): string {
  const lock: { readonly packages: Readonly<Record<string, Manifest>> } = JSON.parse(text)
  const packages = Object.entries(lock.packages).map(([path, manifest]) => [
    path,
    // Installed packages have versions of their own.
    path.includes('node_modules/') ? manifest : withVersion(manifest, version, names),
  ])
  return print({ ...lock, packages: Object.fromEntries(packages) })
}

/** A module whose constant `version` has the version. */
export function setConstantVersion(text: string, version: string): string {
  return text.replace(/^(export const version = )'[^']*'/m, `$1'${version}'`)
}

function withVersion(manifest: Manifest, version: string, names: ReadonlySet<string>): Manifest {
  const fields = Object.entries(manifest).map(([field, value]) => {
    if (field === 'version') return [field, version]
    return [field, dependencyFields.includes(field) ? withDependencies(value, version, names) : value]
  })
  return Object.fromEntries(fields)
}

function withDependencies(value: unknown, version: string, names: ReadonlySet<string>): unknown {
  const dependencies = Object.entries(value ?? {})
  return Object.fromEntries(dependencies.map(([name, range]) => [name, names.has(name) ? version : range]))
}

function print(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
