/** The group this process is in, by controller; `''` is v2. */
export type Positions = ReadonlyMap<string, string>

/** Parses `/proc/self/cgroup`: `4:cpu,cpuacct:/a/b` for v1 and `0::/a/b` for v2. */
export function parsePositions(text: string): Positions {
  const positions = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (controllers === undefined || path === undefined) continue
    for (const controller of controllers.split(',')) positions.set(controller, path)
  }
  return positions
}
