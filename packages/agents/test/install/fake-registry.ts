import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { findNpm } from '../../src/install/npm-client.ts'

export interface FakePackage {
  readonly name: string
  readonly version: string
  readonly files: Readonly<Record<string, string>>
  readonly bin?: string
  readonly scripts?: Readonly<Record<string, string>>
}

interface PackedPackage {
  readonly manifest: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string }
  readonly tarball: Buffer
}

/** An npm registry on the loopback with real packages, made by `npm pack`. */
export async function fakeRegistry(
  folder: string,
  packagesAt: (url: string) => readonly FakePackage[] = () => [],
) {
  let packed: readonly PackedPackage[] = []
  const requests: string[] = []
  /** While it is set, downloads wait for it. */
  let paused: Promise<void> | undefined
  const url = () => {
    const at = server.address()
    return `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}`
  }
  const server = createServer(async ({ url: requestUrl = '/', headers }, response) => {
    // A client that uses this server as a proxy requests absolute URLs; they are served from here too.
    const path = decodeURIComponent(new URL(requestUrl, url()).pathname)
    requests.push(path)
    const file = packed.find(({ manifest }) => path === filePath(manifest))
    if (file !== undefined) {
      await paused
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file.tarball)
      return
    }
    const versions = packed.filter(({ manifest }) => path === `/${manifest.name}`)
    const [first] = versions
    if (first === undefined) response.writeHead(404).end('{"error":"not found"}')
    else
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(packument(first.manifest.name, versions, `http://${headers.host}`)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  packed = pack(folder, packagesAt(url()))
  return {
    url: url(),
    requests,
    /** Delays all downloads until the returned function is called. */
    pauseDownloads() {
      const { promise, resolve } = Promise.withResolvers<void>()
      paused = promise
      return () => {
        paused = undefined
        resolve()
      }
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type FakeRegistry = Awaited<ReturnType<typeof fakeRegistry>>

function pack(folder: string, packages: readonly FakePackage[]): PackedPackage[] {
  if (packages.length === 0) return []
  const written = packages.map((one, index) => ({
    source: join(folder, String(index)),
    manifest: write(join(folder, String(index)), one),
  }))
  const { script } = findNpm(process.env, process.execPath)
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder]
  execFileSync(process.execPath, [script, ...args, ...written.map(({ source }) => source)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return written.map(({ manifest }) => ({
    manifest,
    tarball: readFileSync(join(folder, `${manifest.name}-${manifest.version}.tgz`)),
  }))
}

function write(
  folder: string,
  { name, version, files, bin, scripts }: FakePackage,
): PackedPackage['manifest'] {
  mkdirSync(folder, { recursive: true })
  const manifest = {
    name,
    version,
    ...(bin !== undefined && { bin: { [name]: bin } }),
    ...(scripts && { scripts }),
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  // Readable only for their owner, so that the installer must fix the modes after unpacking.
  for (const [path, content] of Object.entries(files))
    writeFileSync(join(folder, path), content, { mode: 0o600 })
  return manifest
}

function filePath({ name, version }: PackedPackage['manifest']): string {
  return `/${name}/-/${name}-${version}.tgz`
}

function packument(name: string, versions: readonly PackedPackage[], url: string) {
  return {
    name,
    'dist-tags': { latest: versions.at(-1)?.manifest.version },
    versions: Object.fromEntries(
      versions.map(({ manifest, tarball }) => [
        manifest.version,
        {
          ...manifest,
          dist: {
            tarball: `${url}${filePath(manifest)}`,
            integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
          },
        },
      ]),
    ),
  }
}
