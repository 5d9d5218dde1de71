/** Reads a command line as a shell would and judges it by rules. */
export type { CommandPolicyOptions, Rule, Verdict } from '@vitrine/protocol'
export { assertCompiled, type CommandPolicy, commandPolicy, policyRules } from './command-policy.ts'
export { type JudgedCall, type Judgement, judge } from './judge.ts'
export type { JudgedPart } from './judge-command.ts'
