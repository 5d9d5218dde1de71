import { type JournalEvent, type JournalReader, readPages } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutInto, encoded, leaked, longSecret } from '../../../../conformance/src/masking/encodings.ts'
import { scale } from '../../../../conformance/src/scale.ts'
import { openSandbox } from '../fixtures/sandbox.ts'

/** Writes each line of its input to stdout, decoded, one after the other. */
const writer = 'while read -r part; do printf %s "$part" | base64 -d; echo between >&2; sleep 0.01; done'
const mostChunks = 8

const written = longSecret.chain((secret) =>
  encoded(secret).chain(({ text }) => fc.record({ secret: fc.constant(secret), chunks: cutInto(text) })),
)

async function allEvents(journal: JournalReader): Promise<JournalEvent[]> {
  const found: JournalEvent[] = []
  for await (const { events } of readPages(journal, { limit: 1_000 }))
    found.push(...events.filter((event) => 'seq' in event))
  return found
}

/** Every text in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** All that the journal shows: every text, and the output of each stream as one text. */
function shown(events: readonly JournalEvent[]): string[] {
  const output = Map.groupBy(
    events.filter(({ type }) => type === 'process.output'),
    ({ data }) => `${data.process} ${data.stream}`,
  )
  const joined = [...output.values()].map((group) => group.map(({ data }) => data.data).join(''))
  return [...events.flatMap(({ data }) => textsIn(data)), ...joined]
}

/** The chunks, the last ones joined so that a run stays short. */
function inputOf(chunks: readonly string[]): string {
  const parts = [...chunks.slice(0, mostChunks - 1), chunks.slice(mostChunks - 1).join('')]
  return parts.map((part) => `${Buffer.from(part).toString('base64')}\n`).join('')
}

describe('the secret of a process', () => {
  it('shows no 12 characters in any encoding, cut anywhere, while another process and stderr write too', async () => {
    const sandbox = await openSandbox({ isolation: 'none' })
    const options = (run: { secret: string; chunks: string[] }) => ({
      secrets: { KEY: run.secret },
      stdin: inputOf(run.chunks),
    })
    await fc.assert(
      fc.asyncProperty(written, written, async (one, two) => {
        const results = await Promise.all([
          sandbox.exec(writer, options(one)),
          sandbox.exec(writer, options(two)),
        ])
        expect(results.map(({ stdout }) => stdout)).toEqual([one.chunks.join(''), two.chunks.join('')])
        const texts = shown(await allEvents(sandbox.journal))
        for (const { secret } of [one, two])
          for (const text of texts) expect(leaked(secret, text)).toBeUndefined()
      }),
      { numRuns: scale.maskedOutputs },
    )
  })

  it.each([
    ['short', '12', 'secret_too_short'],
    ['long', 'x'.repeat(70_000), 'argument_invalid'],
  ])('is not registered when another one of the call is too %s', async (_, value, code) => {
    const sandbox = await openSandbox({ isolation: 'none' })
    const secrets = { KEY: 'not-registered-value', OTHER: value }
    await expect((async () => sandbox.exec('true', { secrets }))()).rejects.toMatchObject({ code })
    await sandbox.exec(`echo ${secrets.KEY}`)
    expect(shown(await allEvents(sandbox.journal)).join()).toContain(secrets.KEY)
  })

  it('is masked in the recorded result also where the output is cut', async () => {
    const sandbox = await openSandbox({ isolation: 'none' })
    const secret = 'correct-horse-battery-staple-0123456789-abcdefghijklmnopqrstuvwxyz'
    for (const [command, maxOutputBytes] of [
      ['printf "%s%s" "$KEY" "$KEY"', 80],
      ['printf "%s" "$KEY"; seq 5000', 100],
      ['seq 5000; printf "%s" "$KEY"', 100],
      ['printf "%s" "$KEY" | base64 -w 20; seq 5000; printf "%s" "$KEY" | base64 -w 20', 160],
    ] as const) {
      const result = await sandbox.exec(command, { secrets: { KEY: secret }, maxOutputBytes })
      expect(result).toMatchObject({ outcome: 'ok', truncated: true })
    }
    const events = await allEvents(sandbox.journal)
    for (const text of shown(events)) expect(leaked(secret, text)).toBeUndefined()
    expect(events.filter(({ data }) => String(data.stdout).includes('[redacted:KEY]'))).toHaveLength(4)
  })

  it('is masked in the recorded output also where a gap begins and ends', async () => {
    const sandbox = await openSandbox({ isolation: 'none', limits: { journalBytes: 4_000 } })
    const secret = 'correct-horse-battery-staple-0123456789-abcdefghijklmnopqrstuvwxyz'
    // The journal has the first 3,000 and the last 1,000 bytes: both are cut inside of a secret.
    const command = `head -c 2960 /dev/zero | tr '\\0' .; printf "%s" "$KEY"; seq 50000; printf "%s" "$KEY"; head -c 960 /dev/zero | tr '\\0' ,`
    await sandbox.exec(command, { secrets: { KEY: secret } })
    const events = await allEvents(sandbox.journal)
    expect(events.some(({ data }) => Number(data.skipped) > 0)).toBe(true)
    for (const text of shown(events)) expect(leaked(secret, text)).toBeUndefined()
  })
})
