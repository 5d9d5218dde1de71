import { chmodSync, lchownSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { may } from '@vitrine/archives'
import { VitrineError } from '@vitrine/protocol'
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
  if (managed) chownTree(root, user)
  if (!homeGiven) chownTree(home, user)
  for (const folder of [root, home]) assertSearchable(folder, user)
}

function assertSearchable(folder: string, { name, uid, gid }: User): void {
  const identity = { name, uid, gids: [gid], all: uid === 0, owns: true }
  for (let at = dirname(folder); ; at = dirname(at)) {
    if (!may(statSync(at), 'search', identity))
      throw new VitrineError(
        'argument_invalid',
        `user: "${name}" may not enter ${at}, a parent of ${folder}; choose a directory that other users may enter.`,
      )
    if (at === dirname(at)) return
  }
}

/** Changes the owner of a whole tree. Safe from races only before any process of the sandbox runs. */
export function chownTree(path: string, owner: { readonly uid: number; readonly gid: number }): void {
  const { uid, gid } = lstatSync(path)
  if (uid !== owner.uid || gid !== owner.gid) lchownSync(path, owner.uid, owner.gid)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const full = join(path, entry.name)
    if (entry.isDirectory()) chownTree(full, owner)
    else lchownSync(full, owner.uid, owner.gid)
  }
}
