import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { scale } from '../../../../conformance/src/scale.ts'
import { openStore, type RememberedHead, sqliteStore, type Verification } from '../../src/index.ts'
import { anyEvent, fill } from './random-journal.ts'

interface Row {
  readonly seq: number
  readonly position: number
  readonly hash: string
  readonly body: string
}

/** Write access to a journal's rows, as an attacker with the file has it. */
class Forger {
  readonly rows: readonly Row[]
  readonly #db: DatabaseSync

  constructor(db: DatabaseSync) {
    this.#db = db
    this.rows = db
      .prepare('SELECT seq, position, hash, body FROM events WHERE journal = 1 ORDER BY seq')
      .all()
      .map((row) => ({
        seq: Number(row.seq),
        position: Number(row.position),
        hash: String(row.hash),
        body: String(row.body),
      }))
  }

  run(sql: string, ...values: SQLInputValue[]): void {
    this.#db.prepare(sql).run(...values)
  }

  row(seq: number): Row {
    return this.rows[seq - 1]!
  }

  /** The valid hash of this body after that event. */
  chain(after: number, body: string): string {
    const previous = after === 0 ? hash('sha256', 'vitrine journal sbx_a', 'hex') : this.row(after).hash
    return hash('sha256', previous + body, 'hex')
  }

  insert(seq: number, position: number, hashed: string, body: string): void {
    const { type, time } = JSON.parse(body)
    this.run(
      'INSERT INTO events (position, journal, seq, time, type, hash, body) VALUES (?, 1, ?, ?, ?, ?, ?)',
      position,
      seq,
      Date.parse(time),
      type,
      hashed,
      body,
    )
  }

  setHead(seq: number, hashed: string): void {
    this.run('UPDATE journals SET seq = ?, hash = ? WHERE id = 1', seq, hashed)
  }

  /** Rewrites the bodies from here on with valid hashes, and the head. */
  rewrite(from: number, change: (body: string) => string): void {
    let previous = from === 1 ? hash('sha256', 'vitrine journal sbx_a', 'hex') : this.row(from - 1).hash
    for (const { seq, body } of this.rows.slice(from - 1)) {
      const forged = seq === from ? change(body) : body
      previous = hash('sha256', previous + forged, 'hex')
      this.run('UPDATE events SET body = ?, hash = ? WHERE journal = 1 AND seq = ?', forged, previous, seq)
    }
    this.setHead(this.rows.length, previous)
  }
}

/** Changes something at or after `at`, which is not the last event, and returns the `seq` that verification must report. */
type Forgery = (forger: Forger, at: number, last: number) => number | readonly [number, number]

const found: Record<string, Forgery> = {
  'a body': (forger, at) => {
    forger.run(
      'UPDATE events SET body = replace(body, \'"data"\', \'"Data"\') WHERE journal = 1 AND seq = ?',
      at,
    )
    return at
  },
  'a body that is no JSON any more': (forger, at) => {
    forger.run("UPDATE events SET body = 'gone' WHERE journal = 1 AND seq = ?", at)
    return at
  },
  'a hash': (forger, at) => {
    forger.run('UPDATE events SET hash = ? WHERE journal = 1 AND seq = ?', hash('sha256', 'x', 'hex'), at)
    return at
  },
  'the type an event is found by': (forger, at) => {
    forger.run("UPDATE events SET type = 'file.deleted' WHERE journal = 1 AND seq = ?", at)
    return at
  },
  'the session an event is found by': (forger, at) => {
    forger.run("UPDATE events SET session = 'ses_9' WHERE journal = 1 AND seq = ?", at)
    return at
  },
  'the run an event is found by': (forger, at) => {
    forger.run("UPDATE events SET run = 'run_9' WHERE journal = 1 AND seq = ?", at)
    return at
  },
  'the time an event is found by': (forger, at) => {
    forger.run('UPDATE events SET time = time + 1 WHERE journal = 1 AND seq = ?', at)
    return at
  },
  'a row that was deleted': (forger, at) => {
    forger.run('DELETE FROM events WHERE journal = 1 AND seq = ?', at)
    return at
  },
  'the last rows, deleted': (forger, at) => {
    forger.run('DELETE FROM events WHERE journal = 1 AND seq > ?', at)
    return at + 1
  },
  'all rows, deleted': (forger) => {
    forger.run('DELETE FROM events WHERE journal = 1')
    return 1
  },
  'a row behind the last': (forger, _at, last) => {
    const body = forger.row(last).body.replace(`"seq":${last}`, `"seq":${last + 1}`)
    forger.insert(last + 1, 1_000_000, forger.chain(last, body), body)
    return last + 1
  },
  'a row put in between': (forger, at, last) => {
    for (let seq = last; seq >= at; seq -= 1)
      forger.run(
        'UPDATE events SET seq = ?, position = position + 1000 WHERE journal = 1 AND seq = ?',
        seq + 1,
        seq,
      )
    const { body, position } = forger.row(at)
    forger.insert(at, position, hash('sha256', 'x', 'hex'), body.replace('"data"', '"Data"'))
    return at
  },
  'two rows that changed places': (forger, at, last) => {
    forger.run('UPDATE events SET seq = -1 WHERE journal = 1 AND seq = ?', at)
    forger.run('UPDATE events SET seq = ? WHERE journal = 1 AND seq = ?', at, last)
    forger.run('UPDATE events SET seq = ? WHERE journal = 1 AND seq = -1', last)
    return at
  },
  'two bodies that changed places, with their hashes': (forger, at) => {
    const [one, two] = [forger.row(at), forger.row(at + 1)]
    const put = 'UPDATE events SET body = ?, hash = ? WHERE journal = 1 AND seq = ?'
    forger.run(put, two.body, two.hash, at)
    forger.run(put, one.body, one.hash, at + 1)
    return at
  },
  'the commit order of two events': (forger, at) => {
    const [one, two] = [forger.row(at), forger.row(at + 1)]
    const put = 'UPDATE events SET position = ? WHERE journal = 1 AND seq = ?'
    forger.run(put, -1, at)
    forger.run(put, one.position, at + 1)
    forger.run(put, two.position, at)
    return [at, at + 1]
  },
  'a hole that no trimming made': (forger, at) => {
    const { position, hash: hashed } = forger.row(at)
    forger.run('DELETE FROM events WHERE journal = 1 AND seq = ?', at)
    forger.run("INSERT INTO holes VALUES (1, ?, ?, ?, ?, 'age', '[]')", at, at, position, hashed)
    return at
  },
  'a hole with another hash': (forger, at) => {
    forger.run('DELETE FROM events WHERE journal = 1 AND seq = ?', at)
    forger.run("INSERT INTO holes VALUES (1, ?, ?, 0, ?, 'age', '[]')", at, at, hash('sha256', 'x', 'hex'))
    return [at, at + 1]
  },
  'a hole over events that are there': (forger, at) => {
    const { position, hash: hashed } = forger.row(at)
    forger.run("INSERT INTO holes VALUES (1, ?, ?, ?, ?, 'age', '[]')", at, at, position, hashed)
    return [at, at + 1]
  },
  "the head's hash": (forger, _at, last) => {
    forger.setHead(last, hash('sha256', 'x', 'hex'))
    return last
  },
  'a head too far': (forger, _at, last) => {
    forger.setHead(last + 1, hash('sha256', 'x', 'hex'))
    return last + 1
  },
  'a head too near': (forger, at) => {
    forger.setHead(at, forger.row(at).hash)
    return at + 1
  },
  'a whole history that was written anew, as no JSON': (forger, at) => {
    forger.rewrite(at, () => 'gone')
    return at
  },
  'a whole history that was written anew, under another name': (forger, at) => {
    forger.rewrite(at, (body) => body.replace('"journal":"sbx_a"', '"journal":"sbx_b"'))
    return at
  },
}

/** Changes that cannot be detected from the file alone. */
const foundByHead: Record<string, Forgery> = {
  'the last rows, deleted, and the head with them': (forger, at) => {
    forger.run('DELETE FROM events WHERE journal = 1 AND seq > ?', at)
    forger.setHead(at, forger.row(at).hash)
    return at + 1
  },
  'a whole history that was written anew': (forger, at, last) => {
    forger.rewrite(at, (body) => body.replace('"data":', '"data": '))
    return last
  },
  'the whole journal, deleted': (forger) => {
    forger.run('DELETE FROM events WHERE journal = 1')
    forger.run('DELETE FROM journals WHERE id = 1')
    return 1
  },
}

describe('verification reports the first event that was changed', () => {
  test.each(Object.entries(found))(
    'verification reports the first changed event: %s',
    async (_name, forgery) => {
      await forged(forgery, ({ plain, withHead, expected }) => {
        expectNamed(plain, expected)
        expectNamed(withHead, expected)
      })
    },
  )
})

describe('verification against a remembered head reports changes that the file alone does not show', () => {
  test.each(Object.entries(foundByHead))(
    'verification against a remembered head detects %s',
    async (_name, forgery) => {
      await forged(forgery, ({ plain, withHead, expected }) => {
        expect(plain).toMatchObject({ ok: true })
        expectNamed(withHead, expected)
      })
    },
  )
})

test('verification detects events after the recorded head, wherever it ends', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'vitrine-forged-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'journal.db')
  const message = { type: 'log.message', data: { level: 'info', message: 'x' } }
  await written(path, Array(40).fill(message))
  for (let at = 1; at < 40; at += 1) {
    const db = new DatabaseSync(path)
    const forger = new Forger(db)
    forger.setHead(at, forger.row(at).hash)
    db.close()
    await using store = await openStore(sqliteStore({ path }), { readOnly: true })
    const verification = await (await store.journal('sbx_a')).verify()
    expect(verification).toMatchObject({ ok: false, seq: at + 1 })
  }
})

test('verification detects an event that was removed next to a trimmed range', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'vitrine-forged-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'journal.db')
  await using first = await openStore(sqliteStore({ path }))
  const writer = await first.journal('sbx_a')
  const output = (offset: number) => ({
    type: 'process.output',
    data: { process: 'prc_1', stream: 'stdout', offset, data: 'x', encoding: 'utf8' },
  })
  const audit = { type: 'session.updated', session: 'ses_1', data: {} }
  await writer.append([1, 2, 3, 4].map(output))
  await writer.append([audit])
  await writer.append([6, 7, 8, 9].map(output))
  await writer.trim({ events: 3 })
  const { head } = writer
  expect(await writer.verify({ head })).toMatchObject({ ok: true })
  await first.close()
  const db = new DatabaseSync(path)
  const left = db.prepare('SELECT seq FROM events WHERE journal = 1 AND type = ?').all(audit.type)
  expect(left).toMatchObject([{ seq: 5 }])
  const hole = db.prepare('SELECT to_seq, hash, position FROM holes WHERE from_seq = 6').get()!
  db.exec('DELETE FROM events WHERE journal = 1 AND seq = 5; DELETE FROM holes WHERE from_seq = 6')
  db.prepare('UPDATE holes SET to_seq = ?, hash = ?, position = ? WHERE from_seq = 1').run(
    hole.to_seq!,
    hole.hash!,
    hole.position!,
  )
  db.close()
  const { plain, withHead } = await verdicts(path, head)
  expect(plain).toMatchObject({ ok: false })
  expect(withHead).toMatchObject({ ok: false })
})

interface Verdict {
  readonly plain: Verification
  readonly withHead: Verification
  readonly expected: readonly [number, number]
}

function expectNamed(verification: Verification, [from, to]: readonly [number, number]): void {
  expect(verification).toMatchObject({ ok: false, reason: expect.any(String) })
  if (verification.ok) return
  expect(verification.seq).toBeGreaterThanOrEqual(from)
  expect(verification.seq).toBeLessThanOrEqual(to)
}

/** Random journals whose file is changed between two owners. */
async function forged(forgery: Forgery, check: (verdict: Verdict) => void): Promise<void> {
  const journals = fc.array(anyEvent, { minLength: 2, maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(journals, fc.nat(), async (inputs, where) => {
      const directory = mkdtempSync(join(tmpdir(), 'vitrine-forged-'))
      try {
        const path = join(directory, 'journal.db')
        const head = await written(path, inputs)
        const at = 1 + (where % (inputs.length - 1))
        const db = new DatabaseSync(path)
        const named = forgery(new Forger(db), at, inputs.length)
        db.close()
        const expected =
          typeof named === 'number' ? ([named, named] as const) : ([named[0], named[1]] as const)
        check({ ...(await verdicts(path, head)), expected })
      } finally {
        rmSync(directory, { recursive: true, force: true })
      }
    }),
    { numRuns: scale.forgedJournals },
  )
}

async function written(path: string, inputs: Parameters<typeof fill>[1]): Promise<RememberedHead> {
  await using store = await openStore(sqliteStore({ path }))
  const journal = await store.journal('sbx_a')
  const beside = await store.journal('sbx_b')
  await fill(journal, inputs.slice(0, 1))
  await fill(beside, inputs)
  await fill(journal, inputs.slice(1))
  return journal.head
}

/** Checks that an untouched journal in the same file still verifies. */
async function verdicts(path: string, head: RememberedHead): Promise<Omit<Verdict, 'expected'>> {
  await using store = await openStore(sqliteStore({ path }))
  const journal = await store.journal('sbx_a')
  expect(await (await store.journal('sbx_b')).verify()).toMatchObject({ ok: true })
  return { plain: await journal.verify(), withHead: await journal.verify({ head }) }
}
