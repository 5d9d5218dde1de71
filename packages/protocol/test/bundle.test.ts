import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isVitrineError, VitrineError } from '../src/index.ts'
import { bundle } from './bundle.ts'

/**
 * 13,921 bytes at first, most of it zod; 14,932 with the 23 errors of the engine's
 * processes, 15,661 with the 21 of its files, 18,055 with `readPages`,
 * 18,511 with the events of queued prompts and six errors about records, 18,702 with the limit of an
 * event's values and two errors of requests. Raise it knowingly.
 */
const maxGzipBytes = 19_600

describe('the browser bundle of the package', () => {
  it('contains no import, of Node or any other module', async () => {
    const { code, imports } = await bundle({ format: 'esm' })
    expect(imports).toEqual([])
    expect(code).not.toMatch(/["'`]node:/)
    expect(code).not.toMatch(/\brequire\(/)
  })

  it('contains nothing of another package than zod: the SDK of agents gives types only', async () => {
    const { files } = await bundle({ format: 'esm' })
    const packages = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [])
    expect([...new Set(packages)]).toEqual(['zod'])
  })

  it('stays within its size limit', async () => {
    const { code } = await bundle({ format: 'esm' })
    const bytes = gzipSync(code).byteLength
    expect(bytes).toBeLessThan(maxGzipBytes)
    // A limit far above the actual size would detect no growth.
    expect(bytes).toBeGreaterThan(maxGzipBytes * 0.9)
  })

  it('runs without Node and recognises its errors across realms', async () => {
    const { code } = await bundle({ format: 'iife', name: 'vitrine' })
    const elsewhere = createContext({ crypto: globalThis.crypto })
    runInContext(code, elsewhere)
    const thrown: unknown = runInContext(
      `(() => {
        try { vitrine.checkEventInput({ type: 'no.such' }) } catch (error) { return error }
      })()`,
      elsewhere,
    )
    expect(thrown).not.toBeInstanceOf(VitrineError)
    expect(thrown).not.toBeInstanceOf(Error)
    expect(isVitrineError(thrown)).toBe(true)
    expect(thrown).toMatchObject({ code: 'event_type_unknown', status: 422 })
    const here = new VitrineError('timeout', 'late')
    expect(runInContext('vitrine.isVitrineError', elsewhere)(here)).toBe(true)
    const id: unknown = runInContext(`vitrine.newId('sandbox')`, elsewhere)
    expect(id).toMatch(/^sbx_[0-9a-z]{26}$/)
  })
})
