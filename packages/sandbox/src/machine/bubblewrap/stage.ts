/** A name on the stage of `vitrine-machine build`, which covers /tmp while it builds. */
export function stage(name: string): string {
  return `/tmp/${name}`
}
