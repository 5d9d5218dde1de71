/** The oldest major version of Node that Vitrine runs on; `engines` of every package says the same. */
const oldest = 24

/**
 * A sentence for a version of Node that is too old, else undefined.
 *
 * @example
 * nodeVersionProblem(process.version) // 'Vitrine needs Node 24 or newer; this is v20.20.2. …'
 */
export function nodeVersionProblem(version: string): string | undefined {
  const major = Number.parseInt(version.replace(/^v/, ''), 10)
  if (major >= oldest) return undefined
  return `Vitrine needs Node ${oldest} or newer; this is ${version}. Install it from https://nodejs.org.`
}
