import type { CommandPolicy } from './command-policy.ts'
import type { Inside } from './inside/inside.ts'
import { matchBroadly } from './rules/match-broadly.ts'
import { isProgram, matchStrictly } from './rules/match-strictly.ts'
import type { SimpleCommand } from './shell/script.ts'
import { knownText, mayBecomeFlag, shownText } from './shell/word.ts'
import { argvOf, showCommand, visible } from './show.ts'
import { changesWhatRuns } from './variables.ts'
import type { Verdict } from './verdict.ts'
import { readsElsewhere, writtenFiles } from './writes.ts'

/** One command of those that were asked about, or that one of them runs. */
export interface JudgedPart {
  /** The arguments; those that are known only at run time as they were written. */
  readonly argv: readonly string[]
  readonly verdict: Verdict
  /** The rule that decided, as it was given. */
  readonly rule?: string
  readonly reason: string
}

/** The command for itself, without what it runs; undefined if it runs nothing and changes nothing that matters. */
export function judgeCommand(
  policy: CommandPolicy,
  command: SimpleCommand,
  inside: Inside,
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
  const doubts = [...doubtsOf(command), ...(allowed ? [] : writeDoubts(command)), ...inside.doubts]
  const [program] = words
  if (!program && doubts.length === 0) return undefined
  const about = policy.allow.some((rule) => program && isProgram(rule, program))
  const refused = policy.otherwise === 'deny' && sure && !about && program && knownText(program) !== undefined
  if (doubts.length > 0 && !(refused && !inside.transparent))
    return part('ask', `is not certain: ${doubts.join('; ')}`)
  if (allowed) return part('allow', `matches the allow rule ${JSON.stringify(allowed.text)}`, allowed.text)
  if (inside.transparent) return part('allow', 'only runs another command, which is judged for itself')
  const otherwise = policy.otherwise === 'deny' && !sure ? 'ask' : policy.otherwise
  return part(otherwise, `matches no rule, and the policy is to ${otherwise} then`)
}

function doubtsOf({ words, assignments, redirections }: SimpleCommand): string[] {
  const [program, ...args] = words
  const doubts: string[] = []
  if (program && !knownText(program)) {
    doubts.push(
      `which program ${visible(shownText(program)) || 'an empty name'} is will only be known when it runs`,
    )
  }
  for (const word of args.filter(mayBecomeFlag)) {
    doubts.push(`${visible(shownText(word))} may become a flag or other arguments`)
  }
  for (const { name } of assignments.filter((assignment) => changesWhatRuns(assignment.name))) {
    doubts.push(`${visible(name)} changes what programs run or load`)
  }
  for (const { target } of redirections.filter(readsElsewhere)) {
    doubts.push(`what it reads from ${visible(shownText(target))} is not known`)
  }
  return doubts
}

function writeDoubts({ redirections }: SimpleCommand): string[] {
  return writtenFiles(redirections).map((file) => `it writes to ${visible(shownText(file))}`)
}
