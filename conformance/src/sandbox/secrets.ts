import { describe, expect, it } from 'vitest'
import { attempt } from '../waiting/attempt.ts'
import { allEvents, operationsOf } from './events.ts'
import { type MakeSandbox, newSandbox } from './kit.ts'
import { watch } from './screen.ts'

const secret = 'kit-secret/3f9c1b7d2e+0451 "and more"'

/** Secrets that commands get as variables. */
export function secretCases(make: MakeSandbox): void {
  describe('secrets', () => {
    it('are variables of the command, and masked in every event', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const printed = await sandbox.exec('printf "%s" "$KIT_KEY"; printf "%s" "$KIT_KEY" | base64 >&2', {
        secrets: { KIT_KEY: secret },
        env: { OTHER: 'shown' },
      })
      expect(printed).toMatchObject({ outcome: 'ok', stdout: secret })
      await sandbox.exec(`echo '${secret}' later, without the option`)
      const events = await allEvents(journal)
      const text = JSON.stringify(events)
      expect(text).not.toContain(secret.slice(0, 12))
      expect(text).not.toContain(btoa(secret).slice(0, 16))
      expect(text).toContain('[redacted:KIT_KEY]')
      expect(operationsOf(events, 'exec')[0]?.[0]?.data).toMatchObject({
        secrets: ['KIT_KEY'],
        env: ['OTHER'],
      })
    })

    it('are variables of a process and of a terminal too', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const secrets = { KIT_KEY: secret }
      for (const tty of [undefined, { cols: 100, rows: 30 }]) {
        const process = await sandbox.spawn('printf "<%s>" "$KIT_KEY"', { secrets, ...(tty && { tty }) })
        const screen = watch(process)
        expect(await process.exit).toMatchObject({ outcome: 'ok' })
        await screen.ended
        expect(screen.text).toContain(`<${secret}>`)
      }
      const text = JSON.stringify(await allEvents(journal))
      expect(text).not.toContain(secret.slice(0, 12))
      expect(text).toContain('<[redacted:KIT_KEY]>')
    })

    it('go with any size of stdin', async () => {
      const { sandbox } = await newSandbox(make)
      const stdin = new Uint8Array(600_000).fill(97)
      const counted = await sandbox.exec('printf "%s " "$KIT_KEY"; wc -c', {
        secrets: { KIT_KEY: secret },
        stdin,
      })
      expect(counted.stdout.trim()).toBe(`${secret} 600000`)
    })

    it('are refused if they cannot be masked, or have the name of another variable', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await expect(attempt(() => sandbox.exec('true', { secrets: { PIN: '123' } }))).rejects.toMatchObject({
        code: 'secret_too_short',
        message: expect.stringContaining('secrets.PIN'),
      })
      const both = { secrets: { KIT_KEY: secret }, env: { KIT_KEY: 'shown' } }
      await expect(attempt(() => sandbox.exec('true', both))).rejects.toMatchObject({
        code: 'argument_invalid',
        message: expect.stringMatching(/KIT_KEY in both.*leave it out of `env`/),
      })
      await expect(attempt(() => sandbox.spawn('true', both))).rejects.toMatchObject({
        code: 'argument_invalid',
      })
      expect(JSON.stringify(await allEvents(journal))).not.toContain(secret.slice(0, 12))
    })
  })
}
