import { VitrineError } from '@vitrine/protocol'

/** The error of a member that needs a workspace or a machine. */
export function needsWorkdir(member: string): VitrineError {
  return new VitrineError(
    'unsupported',
    `${member}: this sandbox is event-only. Give its client a \`workdir\`, which turns on files and commands.`,
    { details: { member } },
  )
}

/** A method that refuses every call. */
export function refusing(member: string): () => Promise<never> {
  return async () => {
    throw needsWorkdir(member)
  }
}

/** As `refusing`, for a method that returns a stream: the first read is refused. */
export function refusingStream(member: string): () => AsyncGenerator<never, undefined> {
  // biome-ignore lint/correctness/useYield: a stream that fails before its first item.
  return async function* () {
    throw needsWorkdir(member)
  }
}
