import type { Command, CommandPolicyOptions } from '@vitrine/protocol'
import { commandPolicy } from '../../src/policy/command-policy.ts'
import { judge } from '../../src/policy/judge.ts'

export const verdict = (rules: CommandPolicyOptions, command: Command, shell?: string | readonly string[]) =>
  judge(commandPolicy(rules), command, shell).verdict
