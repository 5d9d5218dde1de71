import type { DatabaseSync } from 'node:sqlite'
import { newId, VitrineError } from '@vitrine/protocol'
import { DamagedRow } from './errors.ts'

/** The SQLite application id in the file's header: "VITR". */
const applicationId = 0x56_49_54_52

/** Each step migrates from the version that is its index to the next. Never edit a step: add one. */
const migrations: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE journals (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    incarnation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    time INTEGER NOT NULL,
    events INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    mirror INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    journal INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    type TEXT NOT NULL,
    session TEXT,
    run TEXT,
    hash TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX events_by_seq ON events (journal, seq);
  CREATE TABLE holes (
    journal INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq INTEGER NOT NULL,
    position INTEGER NOT NULL,
    hash TEXT NOT NULL,
    reason TEXT NOT NULL,
    types TEXT NOT NULL,
    PRIMARY KEY (journal, from_seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX holes_by_position ON holes (position);
  CREATE TABLE open_work (
    journal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    context TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (journal, kind, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE blobs (
    hash TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL,
    media_type TEXT,
    stored_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE blob_parts (
    hash TEXT NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (hash, part)
  ) STRICT;
  CREATE TABLE blob_references (
    journal INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    blob TEXT NOT NULL,
    PRIMARY KEY (journal, seq, blob)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX blob_references_by_blob ON blob_references (blob);
  CREATE TABLE sinks (name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT;
  `,
]

/** Rejects a database of another program or of a newer version. Changes nothing. */
export function checkIdentity(db: DatabaseSync, path: string): void {
  const id = pragmaNumber(db, 'application_id')
  const tables = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0)
  if (id !== applicationId && (id !== 0 || tables > 0)) {
    throw new VitrineError('store_foreign', `The file ${path} is a SQLite database of another program.`, {
      details: { path, applicationId: id },
    })
  }
  const version = pragmaNumber(db, 'user_version')
  if (version > migrations.length) {
    throw new VitrineError(
      'store_newer',
      `The store ${path} has format ${version}; this version of Vitrine supports formats up to ${migrations.length}.`,
      { details: { path, version, known: migrations.length } },
    )
  }
}

export function isVitrineStore(db: DatabaseSync): boolean {
  return pragmaNumber(db, 'application_id') === applicationId
}

export function readStoreId(db: DatabaseSync): string {
  const value = db.prepare("SELECT value FROM meta WHERE key = 'store'").get()?.value
  if (typeof value !== 'string' || value === '') throw new DamagedRow('the store has no id')
  return value
}

export function migrate(db: DatabaseSync): void {
  const version = pragmaNumber(db, 'user_version')
  if (version === migrations.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    for (const step of migrations.slice(version)) db.exec(step)
    if (version === 0) {
      const put = db.prepare('INSERT INTO meta (key, value) VALUES (?, ?)')
      put.run('store', newId('store'))
      put.run('epoch', '0')
    }
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}; COMMIT`)
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

export function pragmaNumber(db: DatabaseSync, name: string): number {
  return Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0])
}
