import { describe, expect, it } from 'vitest'
import { errorEntry, errorRegistry, VitrineError } from '../../src/index.ts'
import { codes } from './codes.ts'

describe('the error registry', () => {
  it.each(codes)('has a status, retryable and a hint for %s', (code) => {
    const { status, retryable, hint } = errorRegistry[code]
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(600)
    expect(Number.isInteger(status)).toBe(true)
    expect([true, false, 'unknown']).toContain(retryable)
    expect(hint).toMatch(/^[A-Z].{10,}\.$/)
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
  })

  it('gives every error the values of its entry', () => {
    for (const code of codes) {
      expect(new VitrineError(code, 'x')).toMatchObject({ code, ...errorRegistry[code] })
    }
  })

  it('treats an unknown code as internal, whatever its name', () => {
    for (const code of ['from_the_future', 'toString', '__proto__', 'constructor', '']) {
      expect(errorEntry(code)).toBe(errorRegistry.internal)
    }
  })
})
