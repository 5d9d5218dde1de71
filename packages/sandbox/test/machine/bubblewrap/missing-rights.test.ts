import { expect, it } from 'vitest'
import { missingRights } from '../../../src/machine/bubblewrap/missing-rights.ts'

// As Docker 20.10 gives them, by its options.
it.each([
  ['no options, root', 'open 1 /srv/sandbox/native/vitrine-machine-linux-x64'],
  ['no options, user', 'bwrap: No permissions to create new namespace, likely because the kernel …'],
  ['seccomp=unconfined, user', "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"],
  ['--cap-add SYS_ADMIN', 'user namespaces 30 max_user_namespaces'],
  ['--cap-add SYS_ADMIN, systempaths=unconfined', 'bwrap: pivot_root: Operation not permitted'],
])('names the missing rights in a container with %s', (_, stderr) => {
  expect(missingRights(`${stderr}\n`)).toContain('--security-opt systempaths=unconfined')
})

it.each([
  "bwrap: Can't find source path /srv/missing: No such file or directory",
  'bwrap: execvp sh: No such file or directory',
  'open 2 /srv/workspace',
  '',
])('adds nothing to %s', (stderr) => {
  expect(missingRights(stderr)).toBe('')
})
