import { openHost } from '@vitrine/host'
import { type InstallProgress, VitrineError } from '@vitrine/protocol'

export interface InstallAgentsOptions {
  readonly names: readonly string[]
  readonly all: boolean
  readonly version?: string
  readonly data?: string
  readonly print: (line: string) => void
}

/** Installs agents one after another and stops at the first failure; agents installed before it stay installed. */
export async function installAgents(options: InstallAgentsOptions): Promise<void> {
  const { names, all, version, data, print } = options
  if (all === names.length > 0)
    throw new VitrineError('argument_invalid', 'Name the agents to install, or pass --all.')
  await using host = await openHost({ ...(data !== undefined && { data }) })
  const wanted = all
    ? (await host.listAgents()).filter(({ from }) => from === 'npm').map(({ name }) => name)
    : names
  for (const name of wanted) {
    const { version: installed, path } = await host.installAgent(name, {
      ...(version !== undefined && { version }),
      onProgress: (progress) => print(progressLine(progress)),
    })
    print(`${name} ${installed} is installed in ${path}`)
  }
}

function progressLine({ agent, step, message, bytes }: InstallProgress): string {
  const size = bytes === undefined ? '' : ` (${(bytes / 1024 / 1024).toFixed(0)} MiB)`
  return `${agent}: ${step}: ${message}${size}`
}
