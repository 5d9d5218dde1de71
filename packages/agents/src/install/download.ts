import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LocalSandbox } from '@vitrine/sandbox'
import { explainNpm } from './explain-npm.ts'
import { failed, type InstallRequest, packagesOf } from './install-request.ts'
import { openInstallSandbox, programs } from './install-sandbox.ts'
import { findNpm, readNpmSettings } from './npm-client.ts'
import { reporting } from './progress.ts'
import { openProxyForwarder } from './proxy-forwarder.ts'
import { type RegistryAccess, registryAccess } from './registry-access.ts'
import type { InstallStaging } from './staging.ts'

const downloadMs = 30 * 60 * 1_000

/** Runs `npm install` into the staging tree, with egress to the registry only and without package scripts. */
export async function download(request: InstallRequest, staging: InstallStaging): Promise<void> {
  const { entry, signal } = request
  const npm = findNpm(process.env, process.execPath)
  const access = registryAccess(await readNpmSettings(npm, process.env, signal), process.env)
  const packages = packagesOf(request)
  const message = `npm install ${packages.map(({ name, version }) => `${name}@${version}`).join(' ')}`
  using _ = reporting(staging.folder, { agent: entry.name, step: 'download', message }, request.onProgress)
  await using forwarder = access.proxy === undefined ? undefined : await openProxyForwarder(access.proxy)
  const certificates = await gatherCertificates(access, staging)
  const egress = [
    ...new Set([...(forwarder === undefined ? access.egress : [forwarder.egress]), ...request.egress]),
  ]
  await using sandbox = await openInstallSandbox(request, staging, {
    root: staging.tree,
    home: await staging.partFolder('home'),
    egress,
    binds: [...programs(npm), ...(certificates === undefined ? [] : [{ source: certificates }])],
    env: {
      ...(certificates !== undefined && {
        npm_config_cafile: certificates,
        NODE_EXTRA_CA_CERTS: certificates,
      }),
      // In the environment, not in argv, which other users can read: the URL may contain a login.
      ...(forwarder !== undefined && {
        npm_config_https_proxy: forwarder.url,
        npm_config_proxy: forwarder.url,
      }),
    },
  })
  const specs = packages.map(({ name, version }) => `${name}@${version}`)
  const argv = [
    process.execPath,
    npm.script,
    ...installArguments(request, staging.tree),
    ...access.args,
    ...specs,
  ]
  const result = await sandbox.exec(argv, { cwd: staging.tree, timeoutMs: downloadMs, signal })
  signal.throwIfAborted()
  if (result.outcome === 'ok' && result.exitCode === 0) return
  const output = `${result.stdout}\n${result.stderr}`
  // An allowed host is refused only when its name cannot be resolved: that is a network problem.
  const refused = (await refusedHosts(sandbox)).filter((host) => !egress.includes(host))
  throw failed(request, explainNpm({ output, outcome: result.outcome, refused }), output)
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

/** Copies all CA certificates into one file that the sandbox can read. */
async function gatherCertificates(
  { cafile, certificates }: RegistryAccess,
  staging: InstallStaging,
): Promise<string | undefined> {
  const extra = process.env.NODE_EXTRA_CA_CERTS
  const files = [...new Set([cafile, extra].filter((path): path is string => Boolean(path)))]
  if (files.length + certificates.length === 0) return undefined
  const path = join(await staging.partFolder('certificates'), 'ca.pem')
  // Node and npm ignore missing certificate files too.
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
