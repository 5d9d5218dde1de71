import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** A TCP socket as the kernel lists it. */
export interface SocketRow {
  readonly address: string
  readonly port: number
  readonly state: 'listening' | 'established' | 'other'
  readonly inode: number
}

/** Reads the TCP sockets of a network namespace from its `/proc/<pid>/net` folder. */
export function readSockets(folder: string): SocketRow[] {
  return ['tcp', 'tcp6'].flatMap((name) => {
    try {
      return parseSockets(readFileSync(join(folder, name), 'latin1'))
    } catch {
      return []
    }
  })
}

export function parseSockets(table: string): SocketRow[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
      const [address, port] = (local ?? '').split(':')
      if (address === undefined || port === undefined || inode === undefined) return []
      const row = { address: readAddress(address), port: Number.parseInt(port, 16), inode: Number(inode) }
      return [{ ...row, state: states.get(state ?? '') ?? 'other' }]
    })
}

const states = new Map<string, SocketRow['state']>([
  ['0A', 'listening'],
  ['01', 'established'],
])

/** The kernel prints an address as 32-bit words in native byte order. */
function readAddress(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex')].reverse())
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from(
    { length: 8 },
    (_, index) => ((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0),
  )
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return bytes.slice(12).join('.')
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(':')}]`).hostname.slice(1, -1)
}

/** Maps socket inodes to the processes that hold them. Processes that may not be inspected are left out. */
export function socketOwners(pids: readonly number[]): ReadonlyMap<number, number> {
  const owners = new Map<number, number>()
  for (const pid of pids) {
    for (const inode of socketsOf(pid)) if (!owners.has(inode)) owners.set(inode, pid)
  }
  return owners
}

function socketsOf(pid: number): number[] {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).flatMap((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(linkOf(join(folder, fd))) ?? []
      return inode === undefined ? [] : [Number(inode)]
    })
  } catch {
    return []
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
