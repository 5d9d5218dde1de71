import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { toVitrineError, VitrineError } from '@vitrine/protocol'
import { download } from './download.ts'
import { lastLines } from './explain-npm.ts'
import { cancelledError, failed, type InstallRequest, packagesOf } from './install-request.ts'
import { openInstallSandbox, programs } from './install-sandbox.ts'
import { type Installation, markerName, readInstallation } from './installation.ts'
import { launchOf } from './launch.ts'
import { bytesIn, reporting } from './progress.ts'
import { makeReadableByAll } from './readable-by-all.ts'
import { type InstallStaging, openStaging } from './staging.ts'
import { verifyAgent } from './verify.ts'

const postinstallMs = 5 * 60 * 1_000

/** Downloads, prepares and verifies an agent, then moves it to its final path. A failure leaves nothing behind. */
export async function build(request: InstallRequest): Promise<Installation> {
  const { signal, target } = request
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o755 })
    await using staging = await openStaging(request.cache, request.entry.name)
    await download(request, staging)
    await postinstall(request, staging)
    await makeReadableByAll(staging.tree)
    await verify(request, staging)
    signal.throwIfAborted()
    const installation = await publish(request, staging)
    const bytes = await bytesIn(installation.path)
    request.onProgress({ agent: request.entry.name, step: 'done', message: `installed in ${target}`, bytes })
    return installation
  } catch (error) {
    throw signal.aborted ? cancelledError(request) : toInstallError(request, error)
  }
}

/** Runs the postinstall script without network access. */
async function postinstall(request: InstallRequest, staging: InstallStaging): Promise<void> {
  const { entry, source, signal } = request
  if (source.postinstall === undefined) return
  const message = `running ${source.postinstall}`
  using _ = reporting(staging.tree, { agent: entry.name, step: 'postinstall', message }, request.onProgress)
  await using sandbox = await openInstallSandbox(request, staging, {
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
    request,
    `its script ${source.postinstall} failed (${how}). Its output:\n${lastLines(output)}`,
    output,
  )
}

/** Starts the agent as a session does, read-only and as another user, but without network access. */
async function verify(request: InstallRequest, staging: InstallStaging): Promise<void> {
  const { entry, signal, verifyMs } = request
  const message = 'starting it and waiting for its response to initialize'
  using _ = reporting(staging.tree, { agent: entry.name, step: 'verify', message }, request.onProgress)
  await using sandbox = await openInstallSandbox(request, staging, {
    root: await staging.partFolder('work'),
    home: await staging.partFolder('verify-home'),
    binds: [...programs(), { source: staging.tree }],
  })
  const { stdout: home } = await sandbox.exec(['/bin/sh', '-c', 'printf %s "$HOME"'])
  const launch = launchOf(entry, { path: staging.tree }, { node: process.execPath, home })
  const complaint = await verifyAgent(sandbox, launch, { cwd: sandbox.root, timeoutMs: verifyMs, signal })
  signal.throwIfAborted()
  if (complaint !== undefined)
    throw failed(request, `${complaint}\nTry another version, or report the problem.`, complaint)
}

async function publish(request: InstallRequest, { tree }: InstallStaging): Promise<Installation> {
  const { entry, version, target } = request
  const marker = {
    name: entry.name,
    version,
    packages: packagesOf(request),
    installedAt: new Date().toISOString(),
  }
  const path = join(tree, markerName)
  // A package script may have created this path, for example as a link to a file of the host.
  await rm(path, { recursive: true, force: true })
  await writeFile(path, `${JSON.stringify(marker, undefined, 2)}\n`, { flag: 'wx' })
  await chmod(path, 0o644)
  try {
    await rename(tree, target)
  } catch (error) {
    // Another process finished the same installation first: use that one.
    const other = await readInstallation(target)
    if (other !== undefined) return other
    throw new VitrineError(
      'agent_install_failed',
      `${target} exists but is not an installation: remove it and try again.`,
      { cause: error },
    )
  }
  return { ...marker, path: target }
}

function toInstallError(request: InstallRequest, error: unknown): VitrineError {
  const known = toVitrineError(error)
  if (known.code === 'agent_install_failed' || known.code === 'isolation_unavailable') return known
  const { entry, version } = request
  return new VitrineError(
    'agent_install_failed',
    `Installing ${entry.name} ${version} failed: ${known.message}`,
    {
      cause: error,
      details: { agent: entry.name, version },
    },
  )
}
