// Tests real agents end to end against a scripted model server:
//   npm run test:agents              all of them
//   npm run test:agents -- claude    those whose name contains this; other arguments go to vitest
// The agents are installed into VITRINE_AGENT_CACHE, by default the product's own cache. As root the tests run in a
// network namespace with only loopback, so that no agent reaches the network.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { installAgent } from '../packages/agents/src/install/install-agent.ts'
import { sharedCache } from '../packages/host/src/settings.ts'
import installSystemPackages from './system-packages.ts'
import { root } from './tools.ts'

const agents = ['claude', 'codex', 'opencode', 'gemini', 'pi', 'cline']
const atOnce = 2

/** Installs the missing agents; returns the names of those that could not be installed. */
async function installAll(names: readonly string[], cache: string): Promise<string[]> {
  const failed: string[] = []
  const queue = [...names]
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift())
      if (!(await install(name, cache))) failed.push(name)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return names.filter((name) => failed.includes(name))
}

async function install(name: string, cache: string): Promise<boolean> {
  let last = ''
  try {
    const { version } = await installAgent(name, {
      cache,
      onProgress({ step, message }) {
        if (step === last || step === 'done') return
        last = step
        console.log(`${name}: ${step}, ${message}`)
      },
    })
    console.log(`${name}: ${version} is installed`)
    return true
  } catch (error) {
    console.error(
      `${name}: could not be installed: ${error instanceof Error ? error.message : String(error)}`,
    )
    return false
  }
}

/** The command prefix that leaves a process only loopback as its network; empty where that is not possible. */
function withoutNetwork(): string[] {
  const only = 'this needs root and the right to create network namespaces'
  if (
    process.getuid?.() !== 0 ||
    spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status !== 0
  ) {
    console.warn(`The agents can reach the network: ${only}.`)
    return []
  }
  return ['unshare', '-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
}

function vitest(): string[] {
  const folder = join(root, 'node_modules', 'vitest')
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const entry = join(folder, typeof bin === 'string' ? bin : bin.vitest)
  return [process.execPath, '--conditions=source', '--disable-warning=ExperimentalWarning', entry]
}

const given = process.argv.slice(2)
const named = given.filter((word) => !word.startsWith('-'))
const matching = agents.filter((name) => named.some((word) => name.includes(word)))
const wanted = matching.length === 0 ? agents : matching
const cache = resolve(process.env.VITRINE_AGENT_CACHE ?? sharedCache())

rmSync(join(root, '.tmp', 'agents-report.json'), { force: true })
installSystemPackages()
const missing = await installAll(wanted, cache)
const [program = '', ...args] = [
  ...withoutNetwork(),
  ...vitest(),
  ...['run', '--config', 'vitest.agents.config.ts', ...given],
]
const child = spawn(program, args, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, VITRINE_AGENT_CACHE: cache, VITRINE_AGENTS_MISSING: missing.join(',') },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
child.on('exit', (code) => {
  if (missing.length > 0) console.error(`Not tested because the installation failed: ${missing.join(', ')}.`)
  // In CI an untested agent is a failure.
  process.exit(missing.length > 0 && process.env.CI ? 1 : (code ?? 1))
})
