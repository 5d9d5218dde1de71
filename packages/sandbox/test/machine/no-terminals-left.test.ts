import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const host = fileURLToPath(new URL('../fixtures/host-with-one-terminal.ts', import.meta.url))

/** Needs root, to mount a devpts with a single terminal for the host. */
it.runIf(process.getuid?.() === 0)(
  'reports that the host has no terminals left, and the sandbox keeps running',
  () => {
    const data = mkdtempSync(join('/var/tmp', 'vitrine-test-'))
    onTestFinished(() => rmSync(data, { recursive: true, force: true }))
    const none = 'mount -t devpts -o newinstance,max=1,ptmxmode=0666 devpts /dev/pts'
    const script = `${none} && mount --bind /dev/pts/ptmx /dev/ptmx && exec "$@"`
    const node = [
      process.execPath,
      '--conditions=source',
      '--disable-warning=ExperimentalWarning',
      host,
      data,
    ]
    const { stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', script, 'sh', ...node], {
      encoding: 'utf8',
      timeout: 30_000,
    })
    expect({ stdout, stderr }).toEqual({ stdout: 'terminal_unavailable true\non\n', stderr: '' })
  },
)
