import type { Verdict } from '@vitrine/protocol'
import type { CommandPolicy } from './command-policy.ts'
import { argvOf, escapeInvisible, formatCommand } from './format.ts'
import type { NestedCommands } from './nested/nested-commands.ts'
import { matchBroadly } from './rules/match-broadly.ts'
import { isProgram, matchStrictly } from './rules/match-strictly.ts'
import type { SimpleCommand } from './shell/script.ts'
import { displayText, literalValue, mayBecomeFlag } from './shell/word.ts'
import { isLoaderVariable } from './variables.ts'
import { readsUnknownInput, writtenFiles } from './writes.ts'

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
  const { words, certain } = command
  const quoted = `"${formatCommand(command)}"`
  const part = (verdict: Verdict, reason: string, rule?: string): JudgedPart => ({
    argv: argvOf(command),
    verdict,
    ...(rule !== undefined && { rule }),
    reason: `${quoted} ${reason}.`,
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
  const uncertainties = [
    ...findUncertainties(command),
    ...(allowed ? [] : writeUncertainties(command)),
    ...nested.uncertainties,
  ]
  const [program] = words
  if (!program && uncertainties.length === 0) return undefined
  const hasAllowRule = policy.allow.some((rule) => program && isProgram(rule, program))
  // Such a command is denied whatever is uncertain about it: no allow rule could match, so asking would be pointless.
  const deniedByDefault =
    policy.otherwise === 'deny' &&
    certain &&
    !hasAllowRule &&
    program &&
    literalValue(program) !== undefined &&
    !nested.onlyRunsNested
  if (uncertainties.length > 0 && !deniedByDefault)
    return part('ask', `cannot be judged with certainty: ${uncertainties.join('; ')}`)
  if (allowed) return part('allow', `matches the allow rule ${JSON.stringify(allowed.text)}`, allowed.text)
  if (nested.onlyRunsNested) return part('allow', 'only runs another command, which is judged separately')
  if (policy.otherwise === 'deny' && !certain)
    return part(
      'ask',
      'matches no rule, and it follows text that cannot be parsed, so it may not be a command',
    )
  return part(policy.otherwise, `matches no rule, and the policy's default is ${policy.otherwise}`)
}

function findUncertainties({ words, assignments, redirections }: SimpleCommand): string[] {
  const [program, ...args] = words
  const uncertainties: string[] = []
  if (program) {
    const name = literalValue(program)
    if (name === undefined)
      uncertainties.push(`the program ${escapeInvisible(displayText(program))} is known only at run time`)
    else if (name === '') uncertainties.push('the name of its program is empty')
  }
  for (const word of args.filter(mayBecomeFlag)) {
    uncertainties.push(`${escapeInvisible(displayText(word))} may become a flag or other arguments`)
  }
  for (const { name } of assignments.filter((assignment) => isLoaderVariable(assignment.name))) {
    uncertainties.push(`${escapeInvisible(name)} changes which program runs or what it loads`)
  }
  for (const { target } of redirections.filter(readsUnknownInput)) {
    uncertainties.push(`the content that it reads from ${escapeInvisible(displayText(target))} is not known`)
  }
  return uncertainties
}

function writeUncertainties({ redirections }: SimpleCommand): string[] {
  return writtenFiles(redirections).map((file) => `it writes to ${escapeInvisible(displayText(file))}`)
}
