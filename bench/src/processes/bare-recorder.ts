import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StringDecoder } from 'node:string_decoder'
import { openStore, sqliteStore } from '@vitrine/journal'
import { inScratch } from '../scratch.ts'

const maxBytes = 64 * 1024
const noHash = '0'.repeat(64)

/** Decodes a program's output and inserts it, one row per chunk and one transaction per tick. Returns milliseconds. */
export function bareRecorder(file: string, args: readonly string[]): Promise<number> {
  return inScratch(async (folder) => {
    const db = new DatabaseSync(join(folder, 'bare.db'))
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${await schemaOf(folder)}`)
    const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
    const decoder = new StringDecoder('utf8')
    let pending: Buffer[] = []
    let scheduled = false
    let position = 0
    const write = () => {
      scheduled = false
      const bytes = Buffer.concat(pending)
      pending = []
      db.exec('BEGIN IMMEDIATE')
      for (let at = 0; at < bytes.length; at += maxBytes) {
        position += 1
        const data = {
          process: 'prc_bare',
          stream: 'stdout',
          data: decoder.write(bytes.subarray(at, at + maxBytes)),
        }
        const time = Date.now()
        const body = JSON.stringify({
          journal: 'sbx_bench',
          seq: position,
          time,
          type: 'process.output',
          data,
        })
        insert.run(position, 1, position, time, 'process.output', null, null, noHash, body)
      }
      db.exec('COMMIT')
    }
    const began = performance.now()
    const child = spawn(file, args)
    child.stdin.end()
    child.stdout.on('data', (bytes: Buffer) => {
      pending.push(bytes)
      if (!scheduled) setImmediate(write)
      scheduled = true
    })
    await once(child, 'close')
    if (pending.length > 0) write()
    const ms = performance.now() - began
    db.close()
    return ms
  })
}

/** The schema of the store's event table. */
async function schemaOf(folder: string): Promise<string> {
  const path = join(folder, 'sample.db')
  await (await openStore(sqliteStore({ path }))).close()
  const db = new DatabaseSync(path, { readOnly: true })
  const found = db.prepare("SELECT sql FROM sqlite_schema WHERE tbl_name = 'events'").all()
  db.close()
  return found.map(({ sql }) => String(sql)).join('; ')
}
