import { gramLength } from '../grams.ts'

/** A well-known shape of a secret. */
export interface SecretPattern {
  readonly name: string
  /** Four characters each; every secret of this shape contains one of them. */
  readonly grams: readonly string[]
  /** The range to mask if the pattern matches at a gram found at this index. */
  match(text: string, at: number): { readonly start: number; readonly end: number } | undefined
}

/**
 * A pattern from an expression that starts with one of its grams. The match is masked except for its first group.
 * For linear time, an expression that requires something after an unlimited run must not match from inside such a
 * run.
 */
export function pattern(name: string, grams: readonly string[], expression: RegExp): SecretPattern {
  const sticky = new RegExp(expression.source, `${expression.flags}y`)
  return {
    name,
    grams: [...new Set(grams.map((gram) => gram.slice(0, gramLength)))],
    match(text, at) {
      sticky.lastIndex = at
      const found = sticky.exec(text)
      if (found === null) return undefined
      return { start: at + (found[1]?.length ?? 0), end: at + found[0].length }
    },
  }
}

export const lowerCase = 'abcdefghijklmnopqrstuvwxyz'
export const digits = '0123456789'
export const alphanumeric = `${lowerCase}${lowerCase.toUpperCase()}${digits}`

/** The grams of a prefix of three characters followed by each of these units. */
export function followedBy(beginning: string, units: string): string[] {
  return [...units].map((unit) => beginning + unit)
}
