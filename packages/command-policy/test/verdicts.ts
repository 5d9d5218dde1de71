import type { Command, CommandPolicyOptions } from '@vitrine/protocol'
import { commandPolicy } from '../src/command-policy.ts'
import { judge } from '../src/judge.ts'

export const verdict = (rules: CommandPolicyOptions, command: Command, shell?: string | readonly string[]) =>
  judge(commandPolicy(rules), command, shell).verdict
