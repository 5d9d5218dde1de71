import { describe, expect, it } from 'vitest'
import { formatPtyUpdate, type PtyUpdate } from '../../src/sandbox/pty.ts'

describe('an update for a model', () => {
  it.each<[string, PtyUpdate, string]>([
    [
      'runs',
      { sessionId: 4711, output: '$ ', wallTimeMs: 250 },
      'Wall time: 0.2500 seconds\nProcess running with session ID 4711\nOutput:\n$ ',
    ],
    [
      'has exited',
      { output: 'a\n', exitCode: 1, signal: null, wallTimeMs: 12.3456 },
      'Wall time: 0.0123 seconds\nProcess exited with code 1\nOutput:\na\n',
    ],
    [
      'was cut',
      { output: '…', exitCode: 0, signal: null, originalTokenCount: 9, wallTimeMs: 0 },
      'Wall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\n…',
    ],
    [
      'was killed by a signal',
      { output: '', exitCode: null, signal: 'SIGKILL', wallTimeMs: 30_000 },
      'Wall time: 30.0000 seconds\nProcess killed by SIGKILL\nOutput:\n',
    ],
    [
      'ended unseen',
      { output: '', exitCode: null, signal: null, wallTimeMs: 1_000 },
      'Wall time: 1.0000 seconds\nProcess exited without an exit code\nOutput:\n',
    ],
  ])('formats that the process %s', (_name, update, text) => {
    expect(formatPtyUpdate(update)).toBe(text)
  })
})
