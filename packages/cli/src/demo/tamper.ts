import { copyFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { openStore, sqliteStore } from '@vitrine/journal'

const tampered = 5

/** Changes one event in a copy of a closed store, behind its back, and asks the copy whether it still holds. */
export async function tamperWithCopy(
  path: string,
  copy: string,
  journalId: string,
): Promise<{ tampered: number; named: number; reason: string }> {
  await copyFile(path, copy)
  const raw = new DatabaseSync(copy)
  raw.prepare("UPDATE events SET body = replace(body, 'engine', 'enginf') WHERE seq = ?").run(tampered)
  raw.close()
  await using store = await openStore(sqliteStore({ path: copy }))
  const verdict = await (await store.journal(journalId)).verify()
  if (verdict.ok) throw new Error('a changed journal verified')
  return { tampered, named: verdict.seq, reason: verdict.reason }
}
