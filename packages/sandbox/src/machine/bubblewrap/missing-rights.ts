/** The messages of bubblewrap and of the native program where rights are missing. As root, the first mount fails as `open`. */
const refusals =
  /creat\w* new namespace|Can't mount proc|pivot_root|^open 1 |user namespaces \d+|setting up uid map/m

/**
 * A sentence on which rights are missing, for a build that failed for lack of rights; empty for other failures.
 *
 * @example
 * missingRights('bwrap: pivot_root: Operation not permitted') // 'This machine does not let …'
 */
export function missingRights(stderr: string): string {
  if (!refusals.test(stderr)) return ''
  return (
    'This machine does not let the host build namespaces. In a container, run it as an ordinary user with ' +
    '`--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, as root also with `--cap-add SYS_ADMIN`. ' +
    'Elsewhere, allow unprivileged user namespaces, or run the host as root.'
  )
}
