import { type FlagSet, flagSet } from './flag-values.ts'

/** Says why a command runs what is written in files; undefined if it does not. */
export type Unread = (operands: readonly string[], args: readonly string[]) => string | undefined

/** How a program that has other work takes commands and code in its arguments. */
export interface CarrierRow {
  /** Letters of flags with a value. */
  readonly values?: string
  /** Flags whose value is a command. */
  readonly command?: readonly string[]
  /** Commands that are common there and only do what the flag is for. */
  readonly harmless?: RegExp
  /** Flags whose value is code, a library to load, or settings that may name commands. */
  readonly code?: readonly string[]
  /** Flags whose value is a setting `name=value`. */
  readonly setting?: readonly string[]
  /** Settings that run nothing. */
  readonly harmlessSetting?: RegExp
  /** The text that an argument with a command begins with or contains. */
  readonly word?: RegExp
  readonly unread?: Unread
  /** Operands that are a command: all of them, or those after the first one that matches. */
  readonly runs?: 'operands' | RegExp
  /** Its first word may be a bundle of flags without a dash. */
  readonly oldBundle?: boolean
}

export interface Carrier extends Omit<CarrierRow, 'command' | 'code' | 'setting'> {
  readonly values: string
  readonly command: FlagSet
  readonly code: FlagSet
  readonly setting: FlagSet
}

/** @param names names of programs, separated by blanks */
export function compileCarrier(names: string, row: CarrierRow): readonly (readonly [string, Carrier])[] {
  const carrier: Carrier = {
    ...row,
    values: row.values ?? '',
    command: flagSet(row.command),
    code: flagSet(row.code),
    setting: flagSet(row.setting),
  }
  return names.split(' ').map((name) => [name, carrier] as const)
}

const onlyPrints = /^(--?version|-[vV]|--?help|-h|version|help)$/

/** Unless its first operand is one of these subcommands, or it only prints its version. */
export function otherThan(reason: string, safe: RegExp): Unread {
  return ([subcommand = ''], args) => {
    if (args.length === 1 && onlyPrints.test(args[0] ?? '')) return undefined
    return safe.test(subcommand) ? undefined : reason
  }
}

export function always(reason: string): Unread {
  return (_, args) => (args.length === 1 && onlyPrints.test(args[0] ?? '') ? undefined : reason)
}

/** If its first operand is one of these subcommands. */
export function onlyFor(reason: string, runs: RegExp): Unread {
  return ([subcommand = '']) => (runs.test(subcommand) ? reason : undefined)
}

/** If an operand is a path, an address or a package file. */
export function forPaths(reason: string): Unread {
  const isPath = /^[./~]|:\/\/|\.(deb|rpm|apk)$/
  return (operands) => (operands.some((operand) => isPath.test(operand)) ? reason : undefined)
}

/** Unless an argument shows that its input is not read. */
export function readsInputUnless(test: RegExp): Unread {
  return (_, args) => (args.some((text) => test.test(text)) ? undefined : readsInput)
}

export const readsInput = 'it may run commands that it reads from its input'
