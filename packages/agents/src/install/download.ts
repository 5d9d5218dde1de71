import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LocalSandbox } from '@vitrine/sandbox'
import { explainNpm } from './explain-npm.ts'
import { failed, type InstallRequest, packagesOf } from './install-request.ts'
import { openRoom, programs } from './install-sandbox.ts'
import { findNpm, readNpmSettings } from './npm-client.ts'
import { reporting } from './progress.ts'
import { openProxyDoor } from './proxy-forwarder.ts'
import { type RegistryAccess, registryAccess } from './registry-access.ts'
import type { Staging } from './staging.ts'

const downloadMs = 30 * 60 * 1_000

/** Has npm put the packages into the tree; only the registry is in reach, and no script runs. */
export async function download(order: InstallRequest, staging: Staging): Promise<void> {
  const { entry, signal } = order
  const npm = findNpm(process.env, process.execPath)
  const access = registryAccess(await readNpmSettings(npm, process.env, signal), process.env)
  const packages = packagesOf(order)
  const message = `npm install ${packages.map(({ name, version }) => `${name}@${version}`).join(' ')}`
  using _ = reporting(staging.folder, { agent: entry.name, step: 'download', message }, order.onProgress)
  await using door = access.proxy === undefined ? undefined : await openProxyDoor(access.proxy)
  const certificates = await gatherCertificates(access, staging)
  const egress = [...new Set([...(door === undefined ? access.egress : [door.egress]), ...order.egress])]
  await using sandbox = await openRoom(order, staging, {
    root: staging.tree,
    home: await staging.partFolder('home'),
    egress,
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
  const argv = [
    process.execPath,
    npm.script,
    ...installArguments(order, staging.tree),
    ...access.args,
    ...specs,
  ]
  const result = await sandbox.exec(argv, { cwd: staging.tree, timeoutMs: downloadMs, signal })
  signal.throwIfAborted()
  if (result.outcome === 'ok' && result.exitCode === 0) return
  const output = `${result.stdout}\n${result.stderr}`
  // One that is allowed was refused since it cannot be found: that is no network.
  const refused = (await refusedHosts(sandbox)).filter((host) => !egress.includes(host))
  throw failed(order, explainNpm({ output, outcome: result.outcome, refused }), output)
}

function installArguments({ retryMs }: InstallRequest, prefix: string): string[] {
  return [
    ...['install', '--prefix', prefix, '--save-exact', '--ignore-scripts'],
    ...['--omit=dev', '--include=optional'],
    ...['--no-audit', '--no-fund', '--no-progress', '--no-update-notifier', '--loglevel=warn'],
    ...[
      '--fetch-retries=2',
      `--fetch-retry-mintimeout=${retryMs}`,
      `--fetch-retry-maxtimeout=${6 * retryMs}`,
    ],
  ]
}

/** In one file that can be brought inside, wherever they were and whoever may read them. */
async function gatherCertificates(
  { cafile, certificates }: RegistryAccess,
  staging: Staging,
): Promise<string | undefined> {
  const extra = process.env.NODE_EXTRA_CA_CERTS
  const files = [...new Set([cafile, extra].filter((path): path is string => Boolean(path)))]
  if (files.length + certificates.length === 0) return undefined
  const path = join(await staging.partFolder('certificates'), 'ca.pem')
  // Neither Node nor npm minds one that is missing.
  const read = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))
  await writeFile(path, [...read, ...certificates].join('\n'))
  await chmod(path, 0o644)
  return path
}

async function refusedHosts(sandbox: LocalSandbox): Promise<string[]> {
  const { events } = await sandbox.journal.read({ types: ['network.refused'] })
  return events.flatMap((event) =>
    event.type === 'network.refused' ? [`${event.data.host}:${event.data.port}`] : [],
  )
}
