import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { toVitrineError, VitrineError } from '@vitrine/protocol'
import { download } from './download.ts'
import { lastLines } from './explain-npm.ts'
import { cancelled, failed, type InstallRequest, packagesOf } from './install-request.ts'
import { openRoom, programs } from './install-sandbox.ts'
import { type Installation, markerName, readInstallation } from './installation.ts'
import { launchOf } from './launch.ts'
import { bytesIn, reporting } from './progress.ts'
import { makeReadableByAll } from './readable-by-all.ts'
import { openStaging, type Staging } from './staging.ts'
import { verifyAgent } from './verify.ts'

const postinstallMs = 5 * 60 * 1_000

/** Downloads, prepares, tries and only then names an installation. What goes wrong leaves nothing behind. */
export async function build(order: InstallRequest): Promise<Installation> {
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

/** Without any network. */
async function postinstall(order: InstallRequest, staging: Staging): Promise<void> {
  const { entry, source, signal } = order
  if (source.postinstall === undefined) return
  const message = `running ${source.postinstall}`
  using _ = reporting(staging.tree, { agent: entry.name, step: 'postinstall', message }, order.onProgress)
  await using sandbox = await openRoom(order, staging, {
    root: staging.tree,
    home: await staging.partFolder('postinstall-home'),
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
async function verify(order: InstallRequest, staging: Staging): Promise<void> {
  const { entry, signal, verifyMs } = order
  const message = 'starting it and waiting for its answer'
  using _ = reporting(staging.tree, { agent: entry.name, step: 'verify', message }, order.onProgress)
  await using sandbox = await openRoom(order, staging, {
    root: await staging.partFolder('work'),
    home: await staging.partFolder('verify-home'),
    binds: [...programs(), { source: staging.tree }],
  })
  const { stdout: home } = await sandbox.exec(['/bin/sh', '-c', 'printf %s "$HOME"'])
  const launch = launchOf(entry, { path: staging.tree }, { node: process.execPath, home })
  const complaint = await verifyAgent(sandbox, launch, { cwd: sandbox.root, timeoutMs: verifyMs, signal })
  signal.throwIfAborted()
  if (complaint !== undefined)
    throw failed(order, `${complaint}\nTry another version, or report it.`, complaint)
}

async function putInPlace(order: InstallRequest, { tree }: Staging): Promise<Installation> {
  const { entry, version, target } = order
  const marker = {
    name: entry.name,
    version,
    packages: packagesOf(order),
    installedAt: new Date().toISOString(),
  }
  const path = join(tree, markerName)
  // A script may have put something there, such as a link to a file of this machine.
  await rm(path, { recursive: true, force: true })
  await writeFile(path, `${JSON.stringify(marker, undefined, 2)}\n`, { flag: 'wx' })
  await chmod(path, 0o644)
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

function explained(order: InstallRequest, error: unknown): VitrineError {
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
