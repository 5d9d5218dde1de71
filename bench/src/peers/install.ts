import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = fileURLToPath(new URL('../../../.tmp/peers', import.meta.url))
const installMs = 180_000

/** Pinned: a comparison with a peer means nothing without its version. */
const dependencies = {
  '@openai/agents-core': '0.20.0',
  '@parcel/watcher': '2.6.0',
  '@tanstack/ai': '0.42.0',
  '@tanstack/ai-sandbox': '0.2.4',
  '@tanstack/ai-sandbox-local-process': '0.2.0',
  chokidar: '6.0.0',
}

/** A binary for one platform; on others the comparison is skipped. */
const optionalDependencies = { '@sandbox-agent/cli-linux-x64': '0.4.2' }

let installed: Promise<string> | undefined

/** The folder with the peers' packages, which the first call installs. */
export function peersFolder(): Promise<string> {
  installed ??= install()
  return installed
}

async function install(): Promise<string> {
  const manifest = join(folder, 'package.json')
  const mark = join(folder, '.installed')
  const wanted = JSON.stringify(
    { name: 'vitrine-peers', private: true, dependencies, optionalDependencies },
    null,
    2,
  )
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return folder
  console.error(`Installing the peers to compare with into ${folder} (once) …`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(manifest, wanted)
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const options = { cwd: folder, timeout: installMs }
  await promisify(execFile)('npm', ['install', '--prefix', folder, ...quiet], options).catch(explain)
  writeFileSync(mark, wanted)
  return folder
}

const prefix = 'npm error '
const keptLines = 4

/** Throws with the first lines of npm's error output: the cause comes first, npm's internals follow. */
function explain({ stderr = '', killed = false }: { stderr?: string; killed?: boolean }): never {
  const lines = stderr.split('\n').filter((line) => line.startsWith(prefix))
  const reasons = lines.slice(0, keptLines).map((line) => line.slice(prefix.length).trim())
  const timeout = `npm install did not end within ${installMs / 1_000} s`
  throw new Error([...(killed ? [timeout] : []), ...reasons].join('; ') || 'npm install failed')
}
