import { type DaemonNote, readNote } from '../serve/daemon-file.ts'

const answerMs = 2_000

/** The daemon of a data directory, if it answers. */
export async function findDaemon(data: string): Promise<DaemonNote | undefined> {
  const note = readNote(data)
  if (note === undefined) return undefined
  const headers: Record<string, string> =
    note.token === undefined ? {} : { authorization: `Bearer ${note.token}` }
  try {
    const response = await fetch(`${note.url}/v1/health`, { headers, signal: AbortSignal.timeout(answerMs) })
    await response.arrayBuffer()
    return response.ok ? note : undefined
  } catch {
    return undefined
  }
}
