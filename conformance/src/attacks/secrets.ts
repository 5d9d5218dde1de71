import type { ExecOptions, SpawnOptions } from '@vitrine/protocol'
import { expect } from 'vitest'
import { allEvents } from '../sandbox/events.ts'
import { attempt } from '../waiting/attempt.ts'
import type { Attack } from './kit.ts'
import { encodings, expectNoLeak } from './leaks.ts'

type WithSecrets<Options> = Options & { readonly secrets: Readonly<Record<string, string>> }

/** With characters that each encoding writes in another way. */
function newSecret(): string {
  const random = () => Math.random().toString(36).slice(2, 12).padEnd(10, 'q')
  return `Hush/${random()}+${random()}=%${random()}"\\${random()}~end`
}

const exec = (secret: string): WithSecrets<ExecOptions> => ({ secrets: { KEY: secret } })
const spawn = (secret: string): WithSecrets<SpawnOptions> => ({ secrets: { KEY: secret } })

/** Prints a variable letter by letter, each with a write of its own. */
const byLetter = `perl -e '$| = 1; print for split //, $ENV{KEY}'`

/** The aim: to get a secret into the record, where others read it. Masking is a guard rail. */
export const secretAttacks: readonly Attack[] = [
  {
    promise: 'a secret of a call is given to the command, and is in no event in any encoding',
    async run(target) {
      const { sandbox, journal } = await target.sandbox()
      let seen = 0
      for (const [name, encode] of Object.entries(encodings)) {
        const secret = newSecret()
        expect((await sandbox.exec('printf %s "$KEY"', exec(secret))).stdout).toBe(secret)
        // As an argument it is in the record of the start too.
        await sandbox.exec(['printf', '%s\\n', encode(secret)], exec(secret))
        await sandbox.exec(['sh', '-c', 'printf "%s\\n" "$1" >&2', 'sh', encode(secret)], exec(secret))
        const events = (await allEvents(journal)).slice(seen)
        seen += events.length
        expectNoLeak(events, secret, name)
      }
    },
  },
  {
    promise: 'a secret that is printed in pieces is in no event',
    async run(target) {
      const { sandbox, journal } = await target.sandbox()
      const secret = newSecret()
      expect((await sandbox.exec(byLetter, exec(secret))).stdout).toBe(secret)
      await (await sandbox.spawn(byLetter, spawn(secret))).exit
      await sandbox.exec(
        `head -c 65530 /dev/zero | tr '\\0' x; ${byLetter}; yes | head -c 70000`,
        exec(secret),
      )
      expectNoLeak(await allEvents(journal), secret, 'letters')
    },
  },
  {
    promise: 'a secret that is printed in a terminal is in no event',
    needs: ['terminals'],
    async run(target) {
      const { sandbox, journal } = await target.sandbox()
      const secret = newSecret()
      const tty = { cols: 40, rows: 10 }
      for (const command of ['printf "%s\\n" "$KEY"', byLetter, 'printf %s "$KEY" | base64 -w 0'])
        await (await sandbox.spawn(command, { ...spawn(secret), tty })).exit
      expectNoLeak(await allEvents(journal), secret, 'a terminal')
    },
  },
  {
    promise: 'a secret in a name, a file, an error or a recorded event is in no event',
    async run(target) {
      const { sandbox, journal } = await target.sandbox()
      const secret = newSecret().replaceAll(/[/"\\]/g, '-')
      const options = exec(secret)
      await sandbox.exec(
        'mkdir "$KEY"; printf "%s" "$KEY" > "$KEY/file"; printf "%s" "$KEY" > plain',
        options,
      )
      await sandbox.files.flush()
      await attempt(() => sandbox.files.read(secret)).catch(() => undefined)
      await attempt(() => sandbox.files.move(`${secret}/none`, `${secret}/other`)).catch(() => undefined)
      await attempt(() => sandbox.exec([`no-such-${secret}`])).catch(() => undefined)
      await attempt(() => sandbox.exec('true', { cwd: secret })).catch(() => undefined)
      await sandbox.record([{ type: 'log.message', data: { level: 'info', message: `of ${secret}` } }])
      expectNoLeak(await allEvents(journal), secret, 'names and errors')
    },
  },
  {
    promise: 'a secret of a sandbox is given to every command, and is in no event, also after a restart',
    async run(target) {
      const secret = newSecret()
      const { sandbox, journal } = await target.sandbox({ secrets: { KEY: secret } })
      const printed = async () => (await sandbox.exec('printf %s "$KEY"')).stdout
      expect(await printed()).toBe(secret)
      await sandbox.lifecycle.shutdown()
      await sandbox.lifecycle.start()
      expect(await printed()).toBe(secret)
      expectNoLeak(await allEvents(journal), secret, 'a sandbox')
    },
  },
  {
    promise: 'a well-known token that was not given as a secret is in no event',
    async run(target) {
      const { sandbox, journal } = await target.sandbox()
      const token = `ghp_${'aB3dE6gH9jK2'.repeat(3)}`
      await sandbox.exec(['echo', token])
      await sandbox.exec(`echo "token: ${token}" >&2`)
      expectNoLeak(await allEvents(journal), token, 'a token')
    },
  },
]
