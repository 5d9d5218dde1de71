/** One server-sent event. */
export interface Frame {
  readonly event?: string
  readonly id?: string
  readonly data: string
}

/** Parses server-sent events from chunks of any size. A frame without its empty line at the end is not returned. */
export class SseParser {
  readonly #decoder = new TextDecoder()
  /** The pieces of the unfinished line; only new text is searched for line ends. */
  #line: string[] = []
  /** The last character was a `\r`: a `\n` after it belongs to the same line end. */
  #afterReturn = false
  #data: string[] = []
  #event: string | undefined
  #id: string | undefined

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = []
    const text = this.#decoder.decode(bytes, { stream: true })
    let at = this.#afterReturn && text.startsWith('\n') ? 1 : 0
    if (text !== '') this.#afterReturn = text.endsWith('\r')
    for (const found of text.matchAll(/\r\n|\n|\r/g)) {
      if (found.index < at) continue
      this.#line.push(text.slice(at, found.index))
      at = found.index + found[0].length
      const frame = this.#endLine()
      if (frame !== undefined) frames.push(frame)
    }
    if (at < text.length) this.#line.push(text.slice(at))
    return frames
  }

  #endLine(): Frame | undefined {
    const line = this.#line.length === 1 ? this.#line[0]! : this.#line.join('')
    this.#line = []
    if (line === '') return this.#endFrame()
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') this.#data.push(value)
    else if (name === 'event') this.#event = value
    else if (name === 'id') this.#id = value
    return undefined
  }

  #endFrame(): Frame | undefined {
    const event = this.#event
    const id = this.#id
    const isEmpty = event === undefined && id === undefined && this.#data.length === 0
    const data = this.#data.join('\n')
    this.#data = []
    this.#event = undefined
    this.#id = undefined
    return isEmpty
      ? undefined
      : { data, ...(event !== undefined && { event }), ...(id !== undefined && { id }) }
  }
}
