import type { Journal } from '@vitrine/journal'
import { type ContentBlock, VitrineError } from '@vitrine/protocol'
import { PromptHash } from './prompt-hash.ts'
import type { JoinedTurn, PromptedTurn } from './prompted-turn.ts'
import { interruptedPrompt, recordedResult, type TurnRecord } from './recorded-turn.ts'
import { RecordedTurns } from './recorded-turns.ts'

/** Ended turns whose results stay in memory, with the details of their errors. */
const maxEnded = 1_000

/** The turns of a sandbox by id, so that an id is one turn: those of this process, and earlier ones from the record. */
export class KnownTurns {
  readonly #journal: Journal
  readonly #keyedHash: (text: string) => string
  readonly #live = new Map<string, PromptedTurn>()
  readonly #recorded: RecordedTurns
  readonly #ended: PromptedTurn[] = []
  #arriving = 0

  constructor(journal: Journal, keyedHash: (text: string) => string) {
    this.#journal = journal
    this.#keyedHash = keyedHash
    this.#recorded = new RecordedTurns(journal)
  }

  /** Reads the turns of earlier hosts, and appends `prompt.dropped` for the prompts that waited when the last one ended. */
  async recover(): Promise<void> {
    const queued = await this.#recorded.readAll()
    if (queued.length === 0) return
    const dropped = await this.#journal.append(queued.map(interruptedPrompt))
    for (const event of dropped) this.#recorded.add(event)
  }

  /** Whether a prompt has come whose turn is not known yet. */
  get isArriving(): boolean {
    return this.#arriving > 0
  }

  /** Looks a prompt's turn up and begins it. */
  async arrive<Turn>(begin: () => Promise<Turn>): Promise<Turn> {
    this.#arriving += 1
    try {
      return await begin()
    } finally {
      this.#arriving -= 1
    }
  }

  /** Must have settled before `find` and `join`; undefined if there is nothing to wait for. */
  load(turn: string): Promise<void> | undefined {
    return this.#live.has(turn) ? undefined : this.#recorded.load(turn)
  }

  hash(turn: string, blocks: readonly ContentBlock[]): PromptHash {
    return new PromptHash(turn, blocks, this.#keyedHash)
  }

  add(prompted: PromptedTurn): PromptedTurn {
    this.#live.set(prompted.turn, prompted)
    void prompted.over.then(() => this.#onEnd(prompted))
    return prompted
  }

  /** The turn with this id in this session, running or ended. */
  find(session: string, turn: string): JoinedTurn | undefined {
    const known = this.#live.get(turn) ?? this.#recorded.get(turn)
    return known?.session === session ? this.#joined(turn, known) : undefined
  }

  /** The turn that a prompt with this id already is; undefined when the prompt is to run. */
  join(session: string, turn: string, promptHash: PromptHash): JoinedTurn | undefined {
    const known = this.#live.get(turn) ?? this.#recorded.get(turn)
    if (known === undefined) return undefined
    if (known.session !== session)
      throw new VitrineError('turn_exists', `The turn ${turn} belongs to the session ${known.session}.`)
    if (!promptHash.matches(known.promptHash))
      throw new VitrineError('turn_exists', `The turn ${turn} exists with another prompt.`)
    return mayRun(known) ? undefined : this.#joined(turn, known)
  }

  #joined(turn: string, known: PromptedTurn | TurnRecord): JoinedTurn {
    if ('result' in known) return known
    const result = recordedResult(this.#journal, turn, known)
    result.catch(() => undefined)
    return { turn, accepted: Promise.resolve(), result }
  }

  #onEnd(prompted: PromptedTurn): void {
    const { turn, record } = prompted
    if (record !== undefined) this.#recorded.set(turn, record)
    this.#ended.push(prompted)
    if (this.#ended.length <= maxEnded) return
    const oldest = this.#ended.shift()
    if (oldest !== undefined && this.#live.get(oldest.turn) === oldest) this.#live.delete(oldest.turn)
  }
}

/** A prompt whose turn never started runs when it is sent again, unless it was cancelled. */
function mayRun(known: PromptedTurn | TurnRecord): boolean {
  return known.state === 'dropped' || (known.state === 'queued' && !('result' in known))
}
