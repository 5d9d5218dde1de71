import { readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Capabilities } from '@vitrine/protocol'
import type { TestedSandbox } from '../kit.ts'

const namespaces = ['pid', 'mnt', 'net', 'ipc', 'user'] as const

/** Measures isolation by what a command sees of this host: files, processes, boot id and namespaces. */
export async function measureIsolation(sandbox: TestedSandbox): Promise<Capabilities['isolation']> {
  const folder = await mkdtemp(join('/var/tmp', 'vitrine-kit-host-'))
  try {
    const file = join(folder, 'of-the-host')
    await writeFile(file, 'seen')
    const { stdout } = await sandbox.exec(
      `cat ${file} 2>/dev/null; echo; kill -0 ${process.pid} 2>/dev/null && tr '\\0' ' ' < /proc/${process.pid}/cmdline; echo; cat /proc/sys/kernel/random/boot_id; for n in ${namespaces.join(' ')}; do readlink /proc/self/ns/$n; done`,
    )
    const [seen, command = '', boot, ...inside] = stdout.split('\n')
    const own = readFileSync('/proc/self/cmdline', 'utf8').replaceAll('\0', ' ')
    if (seen === 'seen' || (command !== '' && command === own)) return 'none'
    if (boot !== readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) return 'machine'
    const apart = namespaces.filter((name, index) => inside[index] !== readlinkSync(`/proc/self/ns/${name}`))
    return apart.includes('pid') && apart.includes('mnt') ? 'namespaces' : 'none'
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
