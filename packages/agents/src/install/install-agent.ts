import { mkdir, realpath } from 'node:fs/promises'
import { type InstallProgress, VitrineError } from '@vitrine/protocol'
import { agentOptions, checkOptions } from '@vitrine/protocol/options'
import type { Isolation } from '@vitrine/sandbox'
import type { AgentEntry, NpmSource } from '../registry/entry.ts'
import { findAgent } from '../registry/known-agents.ts'
import { build } from './build.ts'
import { cancelled, type InstallRequest } from './install-request.ts'
import { askFor, type Installation, installationFolder, readInstallation } from './installation.ts'
import type { OnProgress } from './progress.ts'
import { SharedWork } from './shared-work.ts'

export interface InstallAgentOptions {
  /** Where installations are kept: `<cache>/<name>/<version>/`. */
  readonly cache: string
  /** Another version of the agent than the one that is known to work. */
  readonly version?: string
  readonly onProgress?: (progress: InstallProgress) => void
  readonly signal?: AbortSignal
  /** What stands between npm and this machine; default `auto`. */
  readonly isolation?: Isolation
  /** More hosts and ports than those of the registry: where it keeps its files elsewhere. */
  readonly egress?: readonly string[]
  /** How long the program may take to answer; default two minutes. */
  readonly verifyMs?: number
  /** How long npm pauses before it asks the registry again, which it does twice. Default 500 ms. */
  readonly retryMs?: number
}

const defaultVerifyMs = 120_000
const defaultRetryMs = 500

const shared = new SharedWork<Installation, InstallProgress>()

/**
 * Installs an agent from npm, in a sandbox of its own, and tries it before it counts as installed. What is installed
 * already is taken as it is; who asks for the same at the same time shares the work.
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
  const { signal, onProgress = () => undefined, isolation = 'auto', egress = [] } = options
  if (signal?.aborted) throw cancelled({ entry, version })
  await mkdir(options.cache, { recursive: true, mode: 0o755 })
  const cache = await realpath(options.cache)
  const target = installationFolder(cache, entry.name, version)
  const found = await readInstallation(target)
  if (found !== undefined) {
    await askFor(found)
    onProgress({ agent: entry.name, step: 'done', message: `is installed in ${target}` })
    return found
  }
  const begin = (work: { readonly signal: AbortSignal; readonly tell: OnProgress }) => {
    const { verifyMs = defaultVerifyMs, retryMs = defaultRetryMs } = options
    const order: InstallRequest = {
      ...{ entry, source, version, cache, target, isolation, egress, verifyMs, retryMs },
      ...{ signal: work.signal, onProgress: work.tell },
    }
    return build(order)
  }
  // Whoever asked for a wall gets one that was built behind it.
  const key = JSON.stringify([target, isolation, egress])
  return shared.join(key, begin, { onProgress, signal, cancelled: () => cancelled({ entry, version }) })
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

/** A range or a tag is another version every day; a folder has one. */
function checkedVersion(version: string | undefined): string {
  if (version !== undefined && /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.test(version))
    return version
  throw new VitrineError(
    'argument_invalid',
    `version: expected an exact one such as 1.2.3, got ${JSON.stringify(version)}.`,
  )
}
