const unreleased = '## [Unreleased]\n'

/** The changelog with the entries of its section "Unreleased" below a heading for the version. */
export function releaseEntries(changelog: string, version: string, date: string): string {
  const [before, after] = changelog.split(unreleased)
  if (before === undefined || after === undefined)
    throw new Error(`CHANGELOG.md has no line "${unreleased.trim()}". Add it above the latest version.`)
  if (changelog.includes(`\n## [${version}]`))
    throw new Error(`CHANGELOG.md already has a section ${version}. Release a higher version.`)
  const [entries = ''] = after.split(/^## /m)
  if (!/^- /m.test(entries))
    throw new Error('The section "Unreleased" of CHANGELOG.md is empty. List the changes there and commit.')
  return `${before}${unreleased}\n## [${version}] - ${date}\n${after}`
}
