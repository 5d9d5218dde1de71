import { chmodSync, lchownSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { may } from '../files/identity.ts'
import type { User } from './users.ts'

/** The folders of a sandbox, and which of them Vitrine created. */
export interface OwnFolders {
  readonly root: string
  readonly home: string
  readonly managed: boolean
  readonly homeGiven: boolean
  readonly own: readonly string[]
}

/** Gives the folders that Vitrine created to a user. Folders that the caller gave keep their owner. */
export function chownFolders(user: User, { root, home, managed, homeGiven, own }: OwnFolders): void {
  // These folders also hold the host's own state, so other users may traverse them but not list them.
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

/** Changes the owner of a whole tree. Safe from races only before any process of the sandbox runs. */
export function giveAway(path: string, owner: { readonly uid: number; readonly gid: number }): void {
  const { uid, gid } = lstatSync(path)
  if (uid !== owner.uid || gid !== owner.gid) lchownSync(path, owner.uid, owner.gid)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const full = join(path, entry.name)
    if (entry.isDirectory()) giveAway(full, owner)
    else lchownSync(full, owner.uid, owner.gid)
  }
}
