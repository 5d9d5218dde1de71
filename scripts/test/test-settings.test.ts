import { expect, it } from 'vitest'
import { scaledTests } from '../test-settings.ts'

it('the soak runs the tests that take their size from the scale module, and no others', () => {
  const files = scaledTests()
  expect(files).toContain('packages/sandbox/test/files/race.test.ts')
  expect(files).not.toContain('scripts/test/test-settings.test.ts')
  expect(files).not.toContain('packages/sandbox/test/files/access-roots.test.ts')
})
