import type { Command, Verdict } from '@vitrine/protocol'
import { assertCompiled, type CommandPolicy } from './command-policy.ts'
import { argvOf, escapeInvisible, formatCommand, formatWords } from './format.ts'
import { type JudgedPart, judgeCommand } from './judge-command.ts'
import { findNestedCommands } from './nested/find-nested-commands.ts'
import { type NestedCommands, nestedCommand } from './nested/nested-commands.ts'
import { matchBroadly } from './rules/match-broadly.ts'
import { isTooLong, maxCommandBytes, parseShell } from './shell/parse.ts'
import { maxDepth } from './shell/parser-state.ts'
import type { Script, SimpleCommand } from './shell/script.ts'
import { literal, literalValue } from './shell/word.ts'
import { textReader } from './shell-prefix.ts'
import { type VariableEffect, variableEffect } from './variables.ts'

export interface Judgement {
  readonly verdict: Verdict
  readonly parts: readonly JudgedPart[]
  /** A sentence for people: the part that decided, or what could not be parsed. */
  readonly reason: string
}

/** A nested script costs as much as this many levels, since its text is parsed again at each level. */
const scriptDepth = 5

/** The shell and the variables that a command is called with. */
export interface JudgedCall {
  /** The shell that reads a command string: its name, or its argv before the string. */
  readonly shell?: string | readonly string[] | undefined
  /** Variables that the call sets. They are judged like assignments before the command. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Folders besides the system's that a PATH may name, since commands cannot write there. */
  readonly programFolders?: readonly string[] | undefined
}

interface Findings {
  readonly parts: JudgedPart[]
  readonly uncertainties: string[]
}

/**
 * Judges a command by every command that is visible in it. It throws only for an invalid policy. The verdict is `ask`
 * wherever it is not certain.
 *
 * @example judge(commandPolicy({ deny: ['rm -rf *'] }), 'cd / && rm -fr x').verdict // 'deny'
 */
export function judge(
  policy: CommandPolicy,
  command: Command,
  call: string | readonly string[] | JudgedCall = {},
): Judgement {
  assertCompiled(policy)
  const found: Findings = { parts: [], uncertainties: [] }
  const { shell, env, programFolders } = isContext(call) ? call : { shell: call }
  if (env !== undefined) judgeEnvironment(policy, env, programFolders, found)
  if (typeof command === 'string') judgeText(policy, command, found, shell)
  else judgeArgv(policy, command, found)
  return summary(found)
}

function isContext(call: string | readonly string[] | JudgedCall): call is JudgedCall {
  return typeof call !== 'string' && !Array.isArray(call)
}

function judgeEnvironment(
  policy: CommandPolicy,
  env: Readonly<Record<string, string>>,
  programFolders: readonly string[] | undefined,
  found: Findings,
): void {
  for (const [name, value] of Object.entries(env)) {
    const effect = variableEffect(name, value, programFolders)
    if (!effect) continue
    found.uncertainties.push(`${escapeInvisible(name)} ${effect.reason}`)
    judgeVariable(policy, name, effect, found, scriptDepth)
  }
}

/**
 * The value of a variable may be no command but a secret, so only deny and ask rules count, and nothing repeats it. That
 * the variable has an effect is uncertain in any case.
 */
function judgeVariable(
  policy: CommandPolicy,
  name: string,
  { reason, script }: VariableEffect,
  found: Findings,
  depth: number,
): void {
  if (script === undefined) return
  const inner: Findings = { parts: [], uncertainties: [] }
  judgeScript({ ...policy, allow: [], otherwise: 'allow' }, parseShell(script), inner, depth)
  for (const { verdict, rule } of inner.parts) {
    if (rule === undefined || verdict === 'allow') continue
    const matched = `its value matches the rule ${JSON.stringify(rule)}`
    const sentence = `${escapeInvisible(name)} ${reason}, and ${matched}.`
    found.parts.push({ argv: [`${name}=…`], verdict, rule, reason: sentence })
  }
}

function judgeText(
  policy: CommandPolicy,
  text: string,
  found: Findings,
  shell?: string | readonly string[],
): void {
  const reader = textReader(shell)
  if (reader.kind !== 'certain') found.uncertainties.push(reader.reason)
  if (reader.kind !== 'unreadable') judgeScript(policy, parseShell(text, reader.dialect), found, 0)
}

/** Judges an argv like `['bash', '-c', text]` by its text, since callers choose their shell that way. */
function judgeArgv(policy: CommandPolicy, argv: readonly string[], found: Findings): void {
  const [program = ''] = argv
  const last = argv.at(-1)
  if (program === '') found.uncertainties.push('it names no program')
  else if (argv.some((word) => word.includes('\0'))) found.uncertainties.push('it contains a NUL character')
  else if (isTooLong(argv.join(' '))) found.uncertainties.push(`it is longer than ${maxCommandBytes} bytes`)
  else {
    const command: SimpleCommand = {
      words: argv.map(literal),
      assignments: [],
      redirections: [],
      certain: true,
    }
    const reader = textReader(argv.slice(0, -1))
    if (reader.kind !== 'certain' || last === undefined) {
      judgeWithNested(policy, command, found, 0)
      return
    }
    const shell = judgeCommand(policy, command, {
      ...findNestedCommands(command),
      uncertainties: [],
      onlyRunsNested: true,
    })
    if (shell) found.parts.push(shell)
    judgeScript(policy, parseShell(last, reader.dialect), found, 0)
  }
}

function judgeScript(policy: CommandPolicy, script: Script, found: Findings, depth: number): void {
  found.uncertainties.push(...script.uncertainties)
  for (const command of script.commands) judgeWithNested(policy, command, found, depth)
}

/** Judges a command and everything that it runs. */
function judgeWithNested(
  policy: CommandPolicy,
  command: SimpleCommand,
  found: Findings,
  depth: number,
): void {
  if (depth > maxDepth) {
    found.uncertainties.push(`it is nested more than ${maxDepth} deep`)
    return
  }
  const nested = findNestedCommands(command)
  const self = judgeCommand(policy, command, nested)
  if (self) found.parts.push(self)
  for (const { name, value } of command.assignments) {
    const effect = variableEffect(name, literalValue(value))
    if (effect) judgeVariable(policy, name, effect, found, depth + scriptDepth)
  }
  for (const inner of nested.commands) judgeWithNested(policy, inner, found, depth + 1)
  for (const { text, dialect } of nested.scripts) {
    judgeScript(policy, parseShell(text, dialect), found, depth + scriptDepth)
  }
  judgeGuesses(policy, command, nested, found)
}

/** A guess can only make the verdict stricter: it counts if a rule denies it. */
function judgeGuesses(
  policy: CommandPolicy,
  command: SimpleCommand,
  { guesses, suspicions }: NestedCommands,
  found: Findings,
): void {
  for (const words of [...guesses, ...suspicions]) {
    const guess = nestedCommand(command, words)
    const rule = policy.deny.find((candidate) => matchBroadly(candidate, guess) === 'yes')
    if (!rule) continue
    const reason = `"${formatCommand(command)}" may run "${formatWords(words)}", which matches the deny rule ${JSON.stringify(rule.text)}.`
    found.parts.push({
      argv: argvOf(guess),
      verdict: suspicions.includes(words) ? 'ask' : 'deny',
      rule: rule.text,
      reason,
    })
  }
}

function summary({ parts, uncertainties }: Findings): Judgement {
  const verdict = parts.reduce<Verdict>(
    (worst, part) => stricter(worst, part.verdict),
    uncertainties.length > 0 ? 'ask' : 'allow',
  )
  const deciding =
    verdict === 'allow' && parts.length > 1 ? undefined : parts.find((part) => part.verdict === verdict)
  if (deciding) return { verdict, parts, reason: deciding.reason }
  if (uncertainties.length > 0)
    return {
      verdict,
      parts,
      reason: `The command cannot be judged with certainty: ${[...new Set(uncertainties)].join('; ')}.`,
    }
  return { verdict, parts, reason: parts.length > 0 ? 'Every part of it is allowed.' : 'It runs nothing.' }
}

const strictness: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 }

/** Returns the stricter verdict: deny over ask over allow. */
function stricter(one: Verdict, other: Verdict): Verdict {
  return strictness[other] > strictness[one] ? other : one
}
