/** The oldest major version of Node that Vitrine runs on; `engines` of every package says the same. */
export const oldestNode = 24

/**
 * A sentence for a version of Node that is too old, else undefined.
 *
 * @example
 * nodeVersionProblem(process.version) // 'Vitrine needs Node 24 or newer; this is v20.20.2. …'
 */
export function nodeVersionProblem(version: string): string | undefined {
  const major = Number.parseInt(version.replace(/^v/, ''), 10)
  if (major >= oldestNode) return undefined
  return `Vitrine needs Node ${oldestNode} or newer; this is ${version}. Install it from https://nodejs.org.`
}
