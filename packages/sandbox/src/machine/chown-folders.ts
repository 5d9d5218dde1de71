import { chmodSync, lchownSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { may } from '../files/identity.ts'
import type { User } from './users.ts'

/** The folders of a sandbox, and which of them it made itself. */
export interface OwnFolders {
  readonly root: string
  readonly home: string
  readonly managed: boolean
  readonly homeGiven: boolean
  readonly own: readonly string[]
}

/** Lets a user work in the folders that were made for the sandbox; those that were given stay their owner's. */
export function chownFolders(user: User, { root, home, managed, homeGiven, own }: OwnFolders): void {
  // They hold the host's part of it as well: others may pass through, and see nothing.
  for (const folder of own.flatMap((one) => [dirname(one), one])) chmodSync(folder, 0o711)
  if (managed) giveAway(root, user)
  if (!homeGiven) giveAway(home, user)
  for (const folder of [root, home]) mustBeReached(folder, user)
}

function mustBeReached(folder: string, { name, uid, gid }: User): void {
  const who = { name, uid, gids: [gid], all: uid === 0, owns: true }
  for (let at = dirname(folder); ; at = dirname(at)) {
    if (!may(statSync(at), 'search', who))
      throw new VitrineError(
        'argument_invalid',
        `user: "${name}" may not enter ${at}, so it could not work in ${folder}; choose a place that others may enter.`,
      )
    if (at === dirname(at)) return
  }
}

/** Nothing runs in the folder yet. */
export function giveAway(path: string, owner: { readonly uid: number; readonly gid: number }): void {
  const { uid, gid } = lstatSync(path)
  if (uid !== owner.uid || gid !== owner.gid) lchownSync(path, owner.uid, owner.gid)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const full = join(path, entry.name)
    if (entry.isDirectory()) giveAway(full, owner)
    else lchownSync(full, owner.uid, owner.gid)
  }
}
