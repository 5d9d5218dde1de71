import { chmodSync, statSync } from 'node:fs'

/** Every user may create files, and only their owner may remove them. */
const sharedMode = 0o1777

/** Opens /tmp to all users, as root: agents that run as another user need it. Otherwise prints the command to run. */
export function openTemporaryFolder(): void {
  if (process.platform !== 'linux' || (statSync('/tmp').mode & 0o7777) === sharedMode) return
  if (process.getuid?.() !== 0) {
    console.warn('Tests that run programs as another user will fail. Run: sudo chmod 1777 /tmp')
    return
  }
  console.warn('Opening /tmp to all users (chmod 1777 /tmp) …')
  chmodSync('/tmp', sharedMode)
}
