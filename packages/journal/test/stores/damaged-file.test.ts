import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { scale } from '../../../../conformance/src/scale.ts'
import { openStore, sqliteStore } from '../../src/index.ts'
import { closedStore, copyOf, expectHonest, type Honesty, killedStore, type Original } from './damage.ts'

let closed: Original
let killed: Original

beforeAll(async () => {
  closed = await closedStore()
  killed = await killedStore()
  return () => {
    closed.remove()
    killed.remove()
  }
})

describe('a main file', () => {
  test('returns every event when it is undamaged', async () => {
    expect(closed.events).toHaveLength(60)
    expect(statSync(closed.path).size).toBeGreaterThan(80_000)
    const copy = copyOf(closed)
    try {
      expect(await expectHonest(copy.path, closed)).toBe('prefix')
    } finally {
      copy.remove()
    }
  })

  test('is rejected with its path when truncated anywhere', async () => {
    const { size } = statSync(closed.path)
    await damaged(
      closed,
      fc.integer({ min: 0, max: size - 1 }),
      40,
      (path, at) => truncateSync(path, at),
      'refused',
    )
  })

  test('is rejected with its path or continues when truncated next to an undamaged WAL', async () => {
    const { size } = statSync(killed.path)
    expect(statSync(`${killed.path}-wal`).size).toBeGreaterThan(0)
    await damaged(killed, fc.integer({ min: 0, max: size - 1 }), 40, (path, at) => truncateSync(path, at))
  })

  test('is rejected when emptied, and its WAL stays', async () => {
    const copy = copyOf(killed)
    try {
      truncateSync(copy.path, 0)
      const before = statSync(`${copy.path}-wal`).size
      for (const readOnly of [false, true]) {
        await expect(openStore(sqliteStore({ path: copy.path }), { readOnly })).rejects.toMatchObject({
          code: 'store_corrupt',
          message: expect.stringContaining(copy.path),
        })
      }
      expect(statSync(copy.path).size).toBe(0)
      expect(statSync(`${copy.path}-wal`).size).toBe(before)
    } finally {
      copy.remove()
    }
  })

  test('is not silently recreated when deleted', async () => {
    const copy = copyOf(killed)
    try {
      rmSync(copy.path)
      await expect(openStore(sqliteStore({ path: copy.path }))).rejects.toMatchObject({
        code: 'store_corrupt',
        message: expect.stringContaining(`${copy.path}.owner`),
      })
      expect(existsSync(copy.path)).toBe(false)
    } finally {
      copy.remove()
    }
  })

  test('is rejected, fails verification, or is intact with flipped bits', async () => {
    const { size } = statSync(closed.path)
    const flips = fc.array(flip(size), { minLength: 1, maxLength: 8 })
    await damaged(closed, flips, 60, (path, places) => flipBits(path, places))
  })

  test('is rejected, fails verification, or is intact with flipped bits in its first page', async () => {
    await damaged(closed, flip(4_096), 60, (path, place) => flipBits(path, [place]))
  })

  test('is rejected, fails verification, or is intact with a page of noise', async () => {
    const pages = statSync(closed.path).size / 4_096
    const noise = fc.record({
      page: fc.integer({ min: 0, max: pages - 1 }),
      bytes: fc.uint8Array({ minLength: 4_096, maxLength: 4_096 }),
    })
    await damaged(closed, noise, 30, (path, { page, bytes }) => {
      const file = readFileSync(path)
      file.set(bytes, page * 4_096)
      writeFileSync(path, file)
    })
  })
})

describe('a WAL that a killed owner left', () => {
  test('returns every event', async () => {
    expect(killed.events).toHaveLength(60)
    const copy = copyOf(killed)
    try {
      expect(await expectHonest(copy.path, killed)).toBe('prefix')
    } finally {
      copy.remove()
    }
  })

  test('restores an earlier state of the store when truncated anywhere', async () => {
    const { size } = statSync(`${killed.path}-wal`)
    await damaged(
      killed,
      fc.integer({ min: 0, max: size - 1 }),
      40,
      (path, at) => truncateSync(`${path}-wal`, at),
      'prefix',
    )
  })

  test('restores an earlier state of the store with flipped bits', async () => {
    const { size } = statSync(`${killed.path}-wal`)
    await damaged(killed, flip(size), 40, (path, place) => flipBits(`${path}-wal`, [place]), 'prefix')
  })

  test('restores the state of the main file when it is only noise', async () => {
    const noise = fc.uint8Array({ minLength: 1, maxLength: 20_000 })
    await damaged(killed, noise, 10, (path, bytes) => writeFileSync(`${path}-wal`, bytes), 'prefix')
  })

  test('loses only the events after the damage', async () => {
    const wal = `${killed.path}-wal`
    const { size } = statSync(wal)
    const left: number[] = []
    for (const part of [0.25, 0.5, 0.75]) {
      const copy = copyOf(killed)
      try {
        truncateSync(`${copy.path}-wal`, Math.floor(size * part))
        expect(existsSync(`${copy.path}-wal`)).toBe(true)
        await expectHonest(copy.path, killed)
        const store = await openStore(sqliteStore({ path: copy.path }))
        left.push((await store.journal('sbx_a')).head.seq - 1)
        await store.close()
      } finally {
        copy.remove()
      }
    }
    expect(left[0]).toBeGreaterThanOrEqual(killed.settled)
    expect(left[1]).toBeGreaterThan(left[0]!)
    expect(left[2]).toBeGreaterThan(left[1]!)
    expect(left[2]).toBeLessThan(60)
  })
})

interface Flip {
  readonly at: number
  readonly mask: number
}

function flip(size: number): fc.Arbitrary<Flip> {
  return fc.record({ at: fc.integer({ min: 0, max: size - 1 }), mask: fc.integer({ min: 1, max: 255 }) })
}

function flipBits(path: string, flips: readonly Flip[]): void {
  const bytes = readFileSync(path)
  for (const { at, mask } of flips) bytes[at] = bytes[at]! ^ mask
  writeFileSync(path, bytes)
}

async function damaged<Damage>(
  original: Original,
  damage: fc.Arbitrary<Damage>,
  numRuns: number,
  harm: (path: string, damage: Damage) => void,
  expected?: Honesty,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(damage, async (values) => {
      const copy = copyOf(original)
      try {
        harm(copy.path, values)
        const outcome = await expectHonest(copy.path, original)
        if (expected) expect(outcome).toBe(expected)
      } finally {
        copy.remove()
      }
    }),
    { numRuns: Math.ceil(numRuns * scale.damagedFiles) },
  )
}
