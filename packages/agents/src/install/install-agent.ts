import { mkdir, realpath } from 'node:fs/promises'
import { type InstallProgress, type OnObserverError, VitrineError } from '@vitrine/protocol'
import { agentOptions, checkOptions } from '@vitrine/protocol/options'
import { ObserverErrors, shown } from '@vitrine/protocol/primitives'
import type { Isolation } from '@vitrine/sandbox'
import type { AgentEntry, NpmSource } from '../registry/entry.ts'
import { findAgent } from '../registry/known-agents.ts'
import { build } from './build.ts'
import { cancelledError, type InstallRequest } from './install-request.ts'
import { type Installation, installationFolder, markRequested, readInstallation } from './installation.ts'
import type { OnProgress } from './progress.ts'
import { SharedWork } from './shared-work.ts'

export interface InstallAgentOptions {
  /** Directory of the installations, `<cache>/<name>/<version>/`. */
  readonly cache: string
  /** Exact version to install instead of the pinned one, which is known to work. */
  readonly version?: string
  readonly onProgress?: (progress: InstallProgress) => void
  /** Called for each error of `onProgress`, which does not affect the installation. */
  readonly onObserverError?: OnObserverError
  readonly signal?: AbortSignal
  /** Isolation of the sandbox that npm runs in; default `auto`. */
  readonly isolation?: Isolation
  /** `host:port` destinations beyond those of the registry, for a registry that stores its files elsewhere. */
  readonly egress?: readonly string[]
  /** Time limit for the program's response to `initialize`; default two minutes. */
  readonly verifyMs?: number
  /** First pause before npm retries a request to the registry; it retries twice. Default 500 ms. */
  readonly retryMs?: number
}

const defaultVerifyMs = 120_000
const defaultRetryMs = 500

const shared = new SharedWork<Installation, InstallProgress>()

/**
 * Installs an agent from npm in a separate sandbox and verifies that it starts. Returns an existing installation
 * unchanged; concurrent calls for the same version share one installation.
 *
 * @example
 * const { path } = await installAgent('claude', { cache, onProgress: ({ step, message }) => console.log(step, message) })
 */
export async function installAgent(
  agent: string | AgentEntry,
  options: InstallAgentOptions,
): Promise<Installation> {
  checkOptions('installAgent', agentOptions.install, options)
  const entry = typeof agent === 'string' ? findAgent(agent) : agent
  const source = npmSource(entry)
  const version = checkedVersion(options.version ?? source.packages[0]?.version)
  const { signal, onObserverError, isolation = 'auto', egress = [] } = options
  const onProgress = new ObserverErrors({ onObserverError }).guard(
    'onProgress',
    options.onProgress ?? (() => undefined),
  )
  if (signal?.aborted) throw cancelledError({ entry, version })
  await mkdir(options.cache, { recursive: true, mode: 0o755 })
  const cache = await realpath(options.cache)
  const target = installationFolder(cache, entry.name, version)
  const found = await readInstallation(target)
  if (found !== undefined) {
    await markRequested(found)
    onProgress({ agent: entry.name, step: 'done', message: `already installed in ${target}` })
    return found
  }
  const start = (work: { readonly signal: AbortSignal; readonly report: OnProgress }) => {
    const { verifyMs = defaultVerifyMs, retryMs = defaultRetryMs } = options
    const request: InstallRequest = {
      ...{ entry, source, version, cache, target, isolation, egress, verifyMs, retryMs },
      ...{ signal: work.signal, onProgress: work.report },
    }
    return build(request)
  }
  // Concurrent installs are shared only when they use the same isolation and the same egress.
  const key = JSON.stringify([target, isolation, egress])
  return shared.join(key, start, { onProgress, signal, cancelled: () => cancelledError({ entry, version }) })
}

function npmSource({ name, source }: AgentEntry): NpmSource {
  switch (source.kind) {
    case 'npm':
      return source
    case 'command':
      throw new VitrineError(
        'agent_not_installed',
        `The agent ${name} cannot be installed from npm. ${source.howToGet}`,
        { details: { agent: name } },
      )
    case 'builtin':
      throw new VitrineError(
        'argument_invalid',
        `The agent ${name} is part of Vitrine: there is nothing to install.`,
        { details: { agent: name } },
      )
  }
}

/** Accepts only exact versions, because ranges and tags change their meaning and the folder is named after the version. */
function checkedVersion(version: string | undefined): string {
  if (version !== undefined && /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.test(version))
    return version
  throw new VitrineError(
    'argument_invalid',
    `version: expected an exact version such as 1.2.3, got ${shown(version)}.`,
  )
}
