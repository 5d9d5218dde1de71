import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { confined, missing, temporaryFolder } from './confined.ts'

const node = [
  fileURLToPath(new URL('../../../../node_modules/.bin/node', import.meta.url)),
  process.execPath,
].find(existsSync)

const script = `
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
const worker = new Worker("require('node:worker_threads').parentPort.postMessage('worker')", { eval: true })
const said = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
await readFile(process.argv[1])
console.log(said, execFileSync('echo', ['child'], { encoding: 'utf8' }).trim())
`

if (missing) console.warn(`SKIPPED: no program is tried under the filter: ${missing}.`)

describe.skipIf(missing).each(['user', 'root'] as const)('under the filter of a %s', (flavour) => {
  let folder: ReturnType<typeof temporaryFolder>

  beforeAll(() => {
    folder = temporaryFolder()
    writeFileSync(join(folder.path, 'script.mjs'), script)
    writeFileSync(join(folder.path, 'hello.c'), '#include <stdio.h>\nint main(void) { puts("compiled"); }\n')
    return () => folder.remove()
  })

  test.each<[string, readonly string[], string]>([
    ['a shell', ['sh', '-c', 'echo a | cat | tr a b; (sleep 0 & wait)'], 'b'],
    ['node with threads and children', [node ?? 'node', 'script.mjs'], 'worker child'],
    [
      'git',
      [
        'sh',
        '-c',
        'git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log --format=%s',
      ],
      'one',
    ],
    [
      'python with threads and processes',
      [
        'python3',
        '-c',
        'import subprocess,threading; t=threading.Thread(target=print,args=("thread",)); t.start(); t.join(); print(subprocess.check_output(["echo","child"],text=True).strip())',
      ],
      'thread\nchild',
    ],
    ['a compiler', ['sh', '-c', 'cc -o hello hello.c && ./hello'], 'compiled'],
    ['tar', ['sh', '-c', 'tar czf t.tgz hello.c && tar tzf t.tgz'], 'hello.c'],
  ])('runs %s', (_, command, expected) => {
    const { status, stdout, stderr } = confined(folder.path, flavour, command)
    expect({ status, stdout: stdout.trim(), stderr }).toEqual({ status: 0, stdout: expected, stderr: '' })
  })

  test.runIf(process.getuid?.() === 0)('root may change owners and its own ids', () => {
    const { status, stderr } = confined(folder.path, flavour, [
      'sh',
      '-c',
      'touch given && chown 1:1 given && setpriv --reuid 1 --regid 1 --clear-groups true',
    ])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  test.runIf(process.getuid?.() === 0)('only root may chroot', () => {
    const { status } = confined(folder.path, flavour, ['chroot', '/', 'true'])
    expect(status === 0).toBe(flavour === 'root')
  })

  test('dpkg and apt run', () => {
    const { status, stdout } = confined(folder.path, flavour, [
      'sh',
      '-c',
      'command -v dpkg >/dev/null || exit 0; dpkg --audit && dpkg-query -W dpkg && apt-get --version | head -1',
    ])
    expect([status, stdout]).toEqual([0, expect.any(String)])
  })
})
