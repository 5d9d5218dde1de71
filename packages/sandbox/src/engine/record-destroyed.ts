import type { Journal } from '@vitrine/journal'

/** Records that a sandbox was destroyed. It ends the runs and loops in it, whose programs may be gone. */
export async function recordDestroyed(
  journal: Journal,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  await journal.interruptWork(['run', 'loop'], 'Its sandbox was destroyed.')
  await journal.append([{ type: 'sandbox.destroyed', data }])
}
