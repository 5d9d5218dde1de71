/** A position in a script. `peek`, `take` and `eat` skip line continuations; the `raw` methods do not. */
export class Cursor {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  /** The next character, or '' at the end. */
  peek(): string {
    while (this.text[this.at] === '\\' && this.text[this.at + 1] === '\n') this.at += 2
    return this.raw()
  }

  take(): string {
    const character = this.peek()
    this.at += 1
    return character
  }

  raw(): string {
    return this.text[this.at] ?? ''
  }

  takeRaw(): string {
    const character = this.raw()
    this.at += 1
    return character
  }

  /** Consumes `expected` if it comes next. */
  eat(expected: string): boolean {
    const start = this.at
    for (const character of expected) {
      if (this.take() !== character) {
        this.at = start
        return false
      }
    }
    return true
  }

  /** Whether `expected` comes next. */
  sees(expected: string): boolean {
    const start = this.at
    const seen = this.eat(expected)
    this.at = start
    return seen
  }

  /** Returns the rest of the line and consumes its line break. */
  takeLine(): string {
    const end = this.text.indexOf('\n', this.at)
    const line = this.text.slice(this.at, end < 0 ? undefined : end)
    this.at = end < 0 ? this.text.length : end + 1
    return line
  }

  skipBlanks(): void {
    while (this.peek() === ' ' || this.peek() === '\t') this.at += 1
    if (this.raw() !== '#') return
    while (this.raw() !== '\n' && this.raw() !== '') this.at += 1
  }

  /** The text consumed since `start`, as written. */
  since(start: number): string {
    return this.text.slice(start, this.at)
  }

  get ended(): boolean {
    return this.at >= this.text.length
  }

  toEnd(): void {
    this.at = this.text.length
  }
}
