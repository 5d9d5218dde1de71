/** The path of an entry on the stage of `vitrine-machine build`, a tmpfs that covers /tmp during the build. */
export function stage(name: string): string {
  return `/tmp/${name}`
}
