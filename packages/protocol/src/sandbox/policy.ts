/** The decision about a command. */
export type Verdict = 'allow' | 'ask' | 'deny'

/**
 * A command with wildcards: `'git push *'`, or `['git', 'push', '*']`. A string is parsed like a shell command and may
 * name the files it writes to: `'pnpm * > logs/*'`.
 */
export type Rule = string | readonly string[]

export interface CommandPolicyOptions {
  readonly allow?: readonly Rule[]
  readonly ask?: readonly Rule[]
  readonly deny?: readonly Rule[]
  /** The verdict for commands that no rule matches; default `ask`. */
  readonly otherwise?: Verdict
}
