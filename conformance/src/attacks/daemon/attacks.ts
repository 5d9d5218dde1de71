import type { Attack } from '../kit.ts'
import { accessAttacks } from './access.ts'
import { inputAttacks } from './inputs.ts'
import { previewAttacks } from './previews.ts'
import { sessionAttacks } from './sessions.ts'

/** Attacks on the daemon that serves sandboxes over HTTP. */
export const daemonAttacks: readonly Attack[] = [
  ...accessAttacks,
  ...inputAttacks,
  ...previewAttacks,
  ...sessionAttacks,
]
