import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Whether the built command `main` works: from within its bundle it must find the files of every package. */
export async function commandWorks(main: string): Promise<boolean> {
  // Executed directly: the file starts Node itself.
  const result = spawnSync(main, ['ask', '--isolation', 'none', '/say the bundle speaks'], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  })
  if (!result.stdout.includes('the bundle speaks')) return reportFailure('ask', result.stdout + result.stderr)
  const data = mkdtempSync(join(tmpdir(), 'vitrine-built-'))
  const args = ['serve', '--port', '0', '--json', '--isolation', 'none', '--data', data]
  const daemon = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(daemon, 'exit')
  try {
    const [line] = await Promise.race([once(daemon.stdout, 'data'), exited])
    const { url, token } = JSON.parse(String(line))
    for (const path of ['/ui/', '/openapi.json', '/v1/events', '/v1/agents']) {
      const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
      if (!response.ok) return reportFailure(path, `${response.status} ${await response.text()}`)
    }
    return true
  } finally {
    daemon.kill()
    await exited
    rmSync(data, { recursive: true, force: true })
  }
}

function reportFailure(what: string, output: string): false {
  console.error(`The built command failed at ${what}: ${output}`)
  return false
}
