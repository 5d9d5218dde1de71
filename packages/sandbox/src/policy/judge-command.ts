import type { Verdict } from '@vitrine/protocol'
import type { CommandPolicy } from './command-policy.ts'
import type { NestedCommands } from './nested/nested-commands.ts'
import { matchBroadly } from './rules/match-broadly.ts'
import { isProgram, matchStrictly } from './rules/match-strictly.ts'
import type { SimpleCommand } from './shell/script.ts'
import { knownText, mayBecomeFlag, shownText } from './shell/word.ts'
import { argvOf, escapeInvisible, showCommand } from './show.ts'
import { changesWhatRuns } from './variables.ts'
import { readsElsewhere, writtenFiles } from './writes.ts'

/** The judgement of one command of the text, or of one that such a command runs. */
export interface JudgedPart {
  /** Values that are unknown before the command runs appear as they were written. */
  readonly argv: readonly string[]
  readonly verdict: Verdict
  /** The text of the rule that decided. */
  readonly rule?: string
  readonly reason: string
}

/** Judges a command without the commands that it runs; undefined if it runs nothing and has no relevant effect. */
export function judgeCommand(
  policy: CommandPolicy,
  command: SimpleCommand,
  nested: NestedCommands,
): JudgedPart | undefined {
  const { words, sure } = command
  const shown = `"${showCommand(command)}"`
  const part = (verdict: Verdict, reason: string, rule?: string): JudgedPart => ({
    argv: argvOf(command),
    verdict,
    ...(rule !== undefined && { rule }),
    reason: `${shown} ${reason}.`,
  })
  for (const certainty of ['yes', 'maybe'] as const) {
    for (const verdict of ['deny', 'ask'] as const) {
      const rule = policy[verdict].find((candidate) => matchBroadly(candidate, command) === certainty)
      if (!rule) continue
      const name = `the ${verdict} rule ${JSON.stringify(rule.text)}`
      if (certainty === 'yes') return part(verdict, `matches ${name}`, rule.text)
      return part('ask', `may turn out to match ${name}`, rule.text)
    }
  }
  const allowed = policy.allow.find((rule) => matchStrictly(rule, command))
  const doubts = [...doubtsOf(command), ...(allowed ? [] : writeDoubts(command)), ...nested.doubts]
  const [program] = words
  if (!program && doubts.length === 0) return undefined
  const about = policy.allow.some((rule) => program && isProgram(rule, program))
  const refused = policy.otherwise === 'deny' && sure && !about && program && knownText(program) !== undefined
  if (doubts.length > 0 && !(refused && !nested.transparent))
    return part('ask', `is not certain: ${doubts.join('; ')}`)
  if (allowed) return part('allow', `matches the allow rule ${JSON.stringify(allowed.text)}`, allowed.text)
  if (nested.transparent) return part('allow', 'only runs another command, which is judged separately')
  const otherwise = policy.otherwise === 'deny' && !sure ? 'ask' : policy.otherwise
  return part(otherwise, `matches no rule, and the policy is to ${otherwise} then`)
}

function doubtsOf({ words, assignments, redirections }: SimpleCommand): string[] {
  const [program, ...args] = words
  const doubts: string[] = []
  if (program && !knownText(program)) {
    doubts.push(
      `which program ${escapeInvisible(shownText(program)) || 'an empty name'} is will only be known when it runs`,
    )
  }
  for (const word of args.filter(mayBecomeFlag)) {
    doubts.push(`${escapeInvisible(shownText(word))} may become a flag or other arguments`)
  }
  for (const { name } of assignments.filter((assignment) => changesWhatRuns(assignment.name))) {
    doubts.push(`${escapeInvisible(name)} changes what programs run or load`)
  }
  for (const { target } of redirections.filter(readsElsewhere)) {
    doubts.push(`what it reads from ${escapeInvisible(shownText(target))} is not known`)
  }
  return doubts
}

function writeDoubts({ redirections }: SimpleCommand): string[] {
  return writtenFiles(redirections).map((file) => `it writes to ${escapeInvisible(shownText(file))}`)
}
