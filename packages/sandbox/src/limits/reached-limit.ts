import type { ReachedLimit } from '@vitrine/protocol'

type LimitName = ReachedLimit['limit']

const texts: Readonly<Record<LimitName, (max: number) => string>> = {
  memoryBytes: (max) => `The sandbox used its ${max} bytes of memory, and the kernel killed a process of it`,
  pids: (max) => `The sandbox had ${max} processes and threads, and could not create another`,
  tmpBytes: (max) => `/tmp, /var/tmp or /dev/shm of the sandbox is full with ${max} bytes`,
  diskBytes: (max) => `The workspace and HOME of the sandbox have used their ${max} bytes of disk space`,
  disk: () => 'The disk of the host is full, so the volume of the sandbox cannot grow and accepts no write',
}

const remedies: Readonly<Record<LimitName, string>> = {
  memoryBytes: 'use less, or raise `local.limits.memoryBytes`',
  pids: 'start fewer at once, or raise `local.limits.pids`',
  tmpBytes: 'delete files there, or raise `local.limits.tmpBytes`',
  diskBytes: 'delete files, or raise `local.limits.diskBytes`',
  disk: 'free space on the host, then stop and start the sandbox',
}

/** A limit that was reached, with a text that says what to do. */
export function reachedLimit(limit: LimitName, max: number): ReachedLimit {
  return { limit, max, message: `${texts[limit](max)}: ${remedies[limit]}.` }
}
