const form = /^(\d+)\.(\d+)\.(\d+)$/

/**
 * The version to release: a step from the current one, or a given version that is not lower.
 *
 * @example
 * nextVersion('0.1.3', 'minor') // '0.2.0'
 */
export function nextVersion(current: string, wanted: string): string {
  const [major, minor, patch] = partsOf(current)
  if (wanted === 'major') return `${major + 1}.0.0`
  if (wanted === 'minor') return `${major}.${minor + 1}.0`
  if (wanted === 'patch') return `${major}.${minor}.${patch + 1}`
  const given = partsOf(wanted)
  const difference = given[0] - major || given[1] - minor || given[2] - patch
  if (difference < 0) throw new Error(`${wanted} is lower than the current version ${current}.`)
  return given.join('.')
}

function partsOf(version: string): [number, number, number] {
  const [, major, minor, patch] = form.exec(version) ?? []
  if (major === undefined)
    throw new Error(
      `"${version}" is no version. Expected patch, minor, major or three numbers such as 0.2.0.`,
    )
  return [Number(major), Number(minor), Number(patch)]
}
