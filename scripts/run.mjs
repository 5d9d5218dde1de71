// Plain JavaScript, because the machine's Node may be too old for the rest of the repository.
// Installs what is missing, then runs a TypeScript file or a tool on the project's own Node:
//   node scripts/run.mjs packages/cli/src/main.ts demo
//   node scripts/run.mjs vitest run
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const installedMark = join(root, 'node_modules', '.vitrine-installed')
// The binary itself: on Windows `.bin` has a `.cmd` wrapper, which Node refuses to spawn.
const projectNode = join(
  root,
  ...['node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node'],
)

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

function isInstalled() {
  return (
    existsSync(installedMark) && existsSync(projectNode) && readFileSync(installedMark, 'utf8') === lockHash()
  )
}

function install() {
  console.error('Installing dependencies (once, about half a minute) …')
  // Not `npm ci`: it refuses a lock file that lists a tool's binaries for some platforms only, so it cannot install
  // where the registry lacks the binaries of other platforms. `npm install --no-save` also takes the locked versions,
  // and writes neither the lock file nor package.json.
  // The hidden engine warnings concern the machine's Node, which nothing below uses.
  const command = ['install', '--no-save', '--loglevel=error', '--no-audit', '--no-fund']
  const { status, error } = spawnSync('npm', command, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (error || status !== 0) {
    console.error(
      `Installing failed${error ? `: ${error.message}` : ''}. Run "npm install --no-save" in ${root} to see why.`,
    )
    process.exit(1)
  }
  if (!existsSync(projectNode)) {
    console.error(
      'The package "node" was not set up. Allow its install script: npm config get ignore-scripts',
    )
    process.exit(1)
  }
  writeFileSync(installedMark, lockHash())
}

/** A path to a script runs as it is; a bare name is the command of an installed package. */
function entryOf(what) {
  if (/\.(ts|mjs|js)$/.test(what)) return join(root, what)
  const folder = what === 'biome' ? '@biomejs/biome' : what
  const { bin } = JSON.parse(readFileSync(join(root, 'node_modules', folder, 'package.json'), 'utf8'))
  return join(root, 'node_modules', folder, typeof bin === 'string' ? bin : bin[what])
}

const [what, ...args] = process.argv.slice(2)
if (!what) {
  console.error('usage: node scripts/run.mjs <script.ts | tool> [arguments]')
  process.exit(2)
}
if (!isInstalled()) install()

const child = spawn(
  projectNode,
  ['--conditions=source', '--disable-warning=ExperimentalWarning', entryOf(what), ...args],
  {
    stdio: 'inherit',
    cwd: process.cwd(),
  },
)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  } else process.exit(code ?? 1)
})
