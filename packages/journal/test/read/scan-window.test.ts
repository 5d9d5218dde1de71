import { expect, it } from 'vitest'
import { ScanWindow } from '../../src/read/scan-window.ts'

/** A statement that takes longer than a window should. */
async function slowly(): Promise<void> {
  for (const until = performance.now() + 3; performance.now() < until; );
}

it('a search for a text begins with one event, however large it is', async () => {
  const window = new ScanWindow({ text: 'a' })
  expect(window.keys).toBe(1)
  await window.timed(slowly)
  expect(window.keys).toBe(1)
})

it('a window shrinks to one event while statements are slow', async () => {
  const window = new ScanWindow({})
  for (let count = 0; count < 12; count += 1) await window.timed(slowly)
  expect(window.keys).toBe(1)
})
