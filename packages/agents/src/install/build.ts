import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { toVitrineError, VitrineError } from '@vitrine/protocol'
import { createSandbox, type Isolation, type LocalOptions, type LocalSandbox, local } from '@vitrine/sandbox'
import type { AgentEntry, NpmSource } from '../registry/entry.ts'
import { explainNpm, failureDetails, lastLines } from './explain-npm.ts'
import { type Installation, markerName, readInstallation } from './installation.ts'
import { launchOf } from './launch.ts'
import { findNpm, type NpmClient, readNpmSettings } from './npm-client.ts'
import { bytesIn, type OnProgress, reporting } from './progress.ts'
import { openProxyDoor } from './proxy-door.ts'
import { makeReadableByAll } from './readable-by-all.ts'
import { type RegistryAccess, registryAccess } from './registry-access.ts'
import { openStaging, type Staging } from './staging.ts'
import { verifyAgent } from './verify.ts'

/** An installation with nothing left open. */
export interface Order {
  readonly entry: AgentEntry
  readonly source: NpmSource
  readonly version: string
  readonly cache: string
  /** Where it is to be in the end. */
  readonly target: string
  readonly isolation: Isolation
  /** Beside the registry. */
  readonly reach: readonly string[]
  readonly verifyMs: number
  readonly signal: AbortSignal
  readonly onProgress: OnProgress
}

const downloadMs = 30 * 60 * 1_000
const postinstallMs = 5 * 60 * 1_000

/** Downloads, prepares, tries and only then names an installation. What goes wrong leaves nothing behind. */
export async function build(order: Order): Promise<Installation> {
  const { signal, target } = order
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o755 })
    await using staging = await openStaging(order.cache, order.entry.name)
    await download(order, staging)
    await postinstall(order, staging)
    await makeReadableByAll(staging.tree)
    await verify(order, staging)
    signal.throwIfAborted()
    const installation = await putInPlace(order, staging)
    const bytes = await bytesIn(installation.path)
    order.onProgress({ agent: order.entry.name, step: 'done', message: `installed in ${target}`, bytes })
    return installation
  } catch (error) {
    throw signal.aborted ? cancelled(order) : explained(order, error)
  }
}

async function download(order: Order, staging: Staging): Promise<void> {
  const { entry, signal } = order
  const npm = findNpm(process.env, process.execPath)
  const access = registryAccess(await readNpmSettings(npm, process.env, signal), process.env)
  const packages = packagesOf(order)
  const message = `npm install ${packages.map(({ name, version }) => `${name}@${version}`).join(' ')}`
  using _ = reporting(staging.folder, { agent: entry.name, step: 'download', message }, order.onProgress)
  await using door = access.proxy === undefined ? undefined : await openProxyDoor(access.proxy)
  const certificates = await gatherCertificates(access, staging)
  const reach = [...new Set([...(door === undefined ? access.reach : [door.reach]), ...order.reach])]
  await using sandbox = await open(order, staging, {
    root: staging.tree,
    home: await staging.room('home'),
    reach,
    binds: [...programs(npm), ...(certificates === undefined ? [] : [{ source: certificates }])],
    env: {
      ...(certificates !== undefined && {
        npm_config_cafile: certificates,
        NODE_EXTRA_CA_CERTS: certificates,
      }),
      // Not on the command line, which others may read: it may have a login in it.
      ...(door !== undefined && { npm_config_https_proxy: door.url, npm_config_proxy: door.url }),
    },
  })
  const specs = packages.map(({ name, version }) => `${name}@${version}`)
  const argv = [process.execPath, npm.script, ...installArguments(staging.tree), ...access.args, ...specs]
  const result = await sandbox.exec(argv, { cwd: staging.tree, timeoutMs: downloadMs, signal })
  signal.throwIfAborted()
  if (result.outcome === 'ok' && result.exitCode === 0) return
  const output = `${result.stdout}\n${result.stderr}`
  // One that is allowed was refused since it cannot be found: that is no network.
  const refused = (await refusedHosts(sandbox)).filter((host) => !reach.includes(host))
  throw failed(order, explainNpm({ output, outcome: result.outcome, refused }), output)
}

function installArguments(prefix: string): string[] {
  return [
    ...[
      'install',
      '--prefix',
      prefix,
      '--save-exact',
      '--ignore-scripts',
      '--omit=dev',
      '--include=optional',
    ],
    ...['--no-audit', '--no-fund', '--no-progress', '--no-update-notifier', '--loglevel=warn'],
    ...['--fetch-retries=2', '--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=3000'],
  ]
}

/** Without any network. */
async function postinstall(order: Order, staging: Staging): Promise<void> {
  const { entry, source, signal } = order
  if (source.postinstall === undefined) return
  const message = `running ${source.postinstall}`
  using _ = reporting(staging.tree, { agent: entry.name, step: 'postinstall', message }, order.onProgress)
  await using sandbox = await open(order, staging, {
    root: staging.tree,
    home: await staging.room('postinstall-home'),
    binds: programs(),
  })
  const script = join(staging.tree, source.postinstall)
  const result = await sandbox.exec([process.execPath, script], {
    cwd: dirname(script),
    env: {
      PATH: launchOf(entry, { path: staging.tree }, { node: process.execPath, home: '' }).env.PATH ?? '',
    },
    timeoutMs: postinstallMs,
    signal,
  })
  signal.throwIfAborted()
  if (result.outcome === 'ok' && result.exitCode === 0) return
  const output = `${result.stdout}\n${result.stderr}`
  const how = result.exitCode === null ? result.outcome : `exit code ${result.exitCode}`
  throw failed(
    order,
    `its script ${source.postinstall} failed (${how}). It said:\n${lastLines(output)}`,
    output,
  )
}

/** As it will be used: read-only, by somebody else, and here without any network. */
async function verify(order: Order, staging: Staging): Promise<void> {
  const { entry, signal, verifyMs } = order
  const message = 'starting it and waiting for its answer'
  using _ = reporting(staging.tree, { agent: entry.name, step: 'verify', message }, order.onProgress)
  await using sandbox = await open(order, staging, {
    root: await staging.room('work'),
    home: await staging.room('verify-home'),
    binds: [...programs(), { source: staging.tree }],
  })
  const { stdout: home } = await sandbox.exec(['/bin/sh', '-c', 'printf %s "$HOME"'])
  const launch = launchOf(entry, { path: staging.tree }, { node: process.execPath, home })
  const complaint = await verifyAgent(sandbox, launch, { cwd: sandbox.root, timeoutMs: verifyMs, signal })
  signal.throwIfAborted()
  if (complaint !== undefined)
    throw failed(order, `${complaint}\nTry another version, or report it.`, complaint)
}

async function putInPlace(order: Order, { tree }: Staging): Promise<Installation> {
  const { entry, version, target } = order
  const marker = {
    name: entry.name,
    version,
    packages: packagesOf(order),
    installedAt: new Date().toISOString(),
  }
  await writeFile(join(tree, markerName), `${JSON.stringify(marker, undefined, 2)}\n`, { mode: 0o644 })
  try {
    await rename(tree, target)
  } catch (error) {
    // Another process was quicker: what it made is as good.
    const other = await readInstallation(target)
    if (other !== undefined) return other
    throw new VitrineError(
      'agent_install_failed',
      `${target} is in the way and is no installation: remove it and try again.`,
      { cause: error },
    )
  }
  return { ...marker, path: target }
}

/** The first one is the one whose version can be chosen. */
function packagesOf({ source, version }: Order): { name: string; version: string }[] {
  return source.packages.map(({ name, version: pinned }, index) => ({
    name,
    version: index === 0 ? version : pinned,
  }))
}

type SandboxParts = Pick<LocalOptions, 'root' | 'home' | 'reach' | 'binds' | 'env'>

function open({ isolation, signal }: Order, { data }: Staging, parts: SandboxParts): Promise<LocalSandbox> {
  return createSandbox({ provider: local({ ...parts, data, isolation, watch: false }), signal })
}

/** What is not in the system's own folders, which every sandbox has. */
function programs(npm?: NpmClient): { source: string }[] {
  return [process.execPath, ...(npm === undefined ? [] : [npm.folder])]
    .filter((path) => !/^\/(?:usr|opt)\//.test(path))
    .map((source) => ({ source }))
}

/** In one file that can be brought inside, wherever they were and whoever may read them. */
async function gatherCertificates(
  { cafile, certificates }: RegistryAccess,
  staging: Staging,
): Promise<string | undefined> {
  const extra = process.env.NODE_EXTRA_CA_CERTS
  const files = [...new Set([cafile, extra].filter((path) => path !== undefined && path !== ''))]
  if (files.length + certificates.length === 0) return undefined
  const path = join(await staging.room('certificates'), 'ca.pem')
  const [only] = files
  if (files.length === 1 && certificates.length === 0 && only !== undefined) await copyFile(only, path)
  else {
    const read = await Promise.all(files.map((file) => readFile(file ?? '', 'utf8')))
    await writeFile(path, [...read, ...certificates].join('\n'), { mode: 0o644 })
  }
  return path
}

async function refusedHosts(sandbox: LocalSandbox): Promise<string[]> {
  const { events } = await sandbox.journal.read({ types: ['network.refused'] })
  return events.flatMap((event) =>
    event.type === 'network.refused' ? [`${event.data.host}:${event.data.port}`] : [],
  )
}

function failed({ entry, version }: Order, why: string, output: string): VitrineError {
  const message = `Installing ${entry.name} ${version} failed: ${why}`
  return new VitrineError('agent_install_failed', message, failureDetails(entry.name, version, output))
}

function explained(order: Order, error: unknown): VitrineError {
  const known = toVitrineError(error)
  if (known.code === 'agent_install_failed' || known.code === 'isolation_unavailable') return known
  const { entry, version } = order
  return new VitrineError(
    'agent_install_failed',
    `Installing ${entry.name} ${version} failed: ${known.message}`,
    {
      cause: error,
      details: { agent: entry.name, version },
    },
  )
}

export function cancelled({ entry, version }: Pick<Order, 'entry' | 'version'>): VitrineError {
  return new VitrineError(
    'cancelled',
    `Installing ${entry.name} ${version} was called off; nothing was left behind.`,
    { details: { agent: entry.name, version } },
  )
}
