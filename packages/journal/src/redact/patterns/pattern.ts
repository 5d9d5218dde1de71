import { gramLength } from '../grams.ts'

/** A well-known shape of a secret. */
export interface SecretPattern {
  readonly name: string
  /** Four characters each; every secret of this shape has one of them. */
  readonly grams: readonly string[]
  /** What to mask, given that one of the grams stands at this place. */
  match(text: string, at: number): { readonly start: number; readonly end: number } | undefined
}

/**
 * A pattern from an expression that begins with one of its grams. What its first group matches is kept,
 * the rest is masked. To stay linear, an expression that demands something after an unlimited run must
 * refuse to begin inside such a run.
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

/** The grams of three known characters and one of many. */
export function followedBy(beginning: string, units: string): string[] {
  return [...units].map((unit) => beginning + unit)
}
