import { type ArchiveLimits, VitrineError } from '@vitrine/protocol'

const gib = 1024 ** 3

export const defaultLimits: ArchiveLimits = {
  inputBytes: 8 * gib,
  expandedBytes: 16 * gib,
  members: 1_000_000,
  ratio: 200,
}

/** The ratio is not checked for smaller contents, which cannot do harm. */
const ratioMinBytes = 64 * 1024 ** 2

/** Limits the memory for names, which are stored until the end. */
const maxNamesBytes = 256 * 1024 ** 2

/** Counts the bytes and members of an archive and throws when a limit is exceeded. */
export class ArchiveTally {
  readonly #limits: ArchiveLimits
  #input = 0
  #expanded = 0
  #holes = 0
  #members = 0
  #entries = 0
  #names = 0

  constructor(limits: Partial<ArchiveLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits }
  }

  input(bytes: number): void {
    this.#input += bytes
    if (this.#input > this.#limits.inputBytes) throw tooLarge('inputBytes', this.#limits.inputBytes)
  }

  expanded(bytes: number): void {
    const { ratio } = this.#limits
    this.#expanded += bytes
    this.#checkExpanded()
    if (this.#expanded > ratioMinBytes && this.#expanded > ratio * this.#input) throw tooLarge('ratio', ratio)
  }

  /** Counts the holes of a sparse file. They are no compressed content, so the ratio does not apply to them. */
  holes(bytes: number): void {
    this.#holes += bytes
    this.#checkExpanded()
  }

  #checkExpanded(): void {
    const { expandedBytes } = this.#limits
    if (this.#expanded + this.#holes > expandedBytes) throw tooLarge('expandedBytes', expandedBytes)
  }

  member(name: string): void {
    this.#members += 1
    if (this.#members > this.#limits.members) throw tooLarge('members', this.#limits.members)
    this.name(name)
  }

  /** Counts an entry of a zip's central directory, which is read before the members. */
  entry(name: string): void {
    this.#entries += 1
    if (this.#entries > this.#limits.members) throw tooLarge('members', this.#limits.members)
    this.name(name)
  }

  name(text: string): void {
    this.#names += text.length
    if (this.#names > maxNamesBytes) throw tooLarge('names', maxNamesBytes)
  }
}

const messages = {
  inputBytes: (limit: number) => `has more than ${limit} bytes (inputBytes)`,
  expandedBytes: (limit: number) => `holds more than ${limit} bytes (expandedBytes)`,
  members: (limit: number) => `has more than ${limit} members (members)`,
  ratio: (limit: number) => `grows to more than ${limit} times its size (ratio)`,
  names: (limit: number) => `has names of more than ${limit} bytes`,
} as const

function tooLarge(which: keyof typeof messages, limit: number): VitrineError {
  return new VitrineError('archive_too_large', `The archive ${messages[which](limit)}.`, {
    details: { limit: which, max: limit },
  })
}
