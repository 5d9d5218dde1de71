import type { Launch } from './machine.ts'

/** The ids and capabilities that a command runs with. */
export interface CommandIdentity {
  /** -1: the user of `vitrine-machine`. */
  readonly uid: number
  readonly gid: number
  /** Supplementary groups. */
  readonly groups: readonly number[]
  readonly root: boolean
  readonly capabilities: bigint
}

/** The most supplementary groups that `vitrine-machine` takes. */
export const maxGroups = 32
const headBytes = 40 + 4 * maxGroups
const inputFlag = 1
const rootFlag = 2
const keepFlag = 4

/** Encodes a request to `vitrine-machine serve`: a fixed header, then NUL-terminated strings. */
export function encodeRequest(id: number, launch: Launch, identity: CommandIdentity): Buffer {
  const { argv, cwd, env, input, keepAfterExit: kept = false } = launch
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const text = Buffer.from([cwd, ...argv, ...variables, ''].join('\0'))
  const head = Buffer.alloc(headBytes)
  head.writeUInt32LE(text.length, 0)
  head.writeUInt32LE(id, 4)
  head.writeUInt32LE((input ? inputFlag : 0) | (identity.root ? rootFlag : 0) | (kept ? keepFlag : 0), 8)
  head.writeInt32LE(identity.uid, 12)
  head.writeInt32LE(identity.gid, 16)
  head.writeUInt32LE(argv.length, 20)
  head.writeUInt32LE(variables.length, 24)
  head.writeBigUInt64LE(identity.capabilities, 28)
  const groups = identity.groups.slice(0, maxGroups)
  head.writeUInt32LE(groups.length, 36)
  for (const [index, group] of groups.entries()) head.writeUInt32LE(group, 40 + 4 * index)
  return Buffer.concat([head, text])
}
