import type { Command } from '@vitrine/protocol'
import { type CommandPolicyOptions, commandPolicy } from '../../src/policy/command-policy.ts'
import { judge } from '../../src/policy/judge.ts'

export const verdict = (rules: CommandPolicyOptions, command: Command, shell?: string | readonly string[]) =>
  judge(commandPolicy(rules), command, shell).verdict
