import type { Turn } from '../turn.ts'

/** A row of the table. */
export interface DemoCommand {
  readonly name: string
  /** What follows the name. */
  readonly takes: string
  readonly what: string
  readonly run: (turn: Turn, argument: string) => Promise<void>
}
