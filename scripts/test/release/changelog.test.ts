import { expect, it } from 'vitest'
import { releaseEntries } from '../../release/changelog.ts'

const before =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- One.\n\n## [0.1.0] - 2026-01-02\n\n- First.\n'

it('moves the unreleased entries below the version and its date', () => {
  expect(releaseEntries(before, '0.2.0', '2026-03-04')).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n### Added\n\n- One.\n\n## [0.1.0] - 2026-01-02\n\n- First.\n',
  )
})

it.each([
  ['no section', '# Changelog\n', 'has no line "## [Unreleased]"'],
  ['no entries', before.replace('- One.', ''), 'is empty. List the changes there'],
  ['the version already', before.replaceAll('0.1.0', '0.2.0'), 'already has a section 0.2.0'],
])('refuses a changelog with %s', (_, text, message) => {
  expect(() => releaseEntries(text, '0.2.0', '2026-03-04')).toThrow(message)
})
