import { StringDecoder } from 'node:string_decoder'
import { HeadAndTail } from '../output/head-and-tail.ts'
import type { OutputStream } from '../output/recorder.ts'
import type { WrittenOutput } from './fit-tokens.ts'

/** The most bytes that are kept between two calls. */
const maxBytes = 1024 * 1024
const lineBreak = 10

/** The output of a process since the last `take`. */
export class UnreadOutput {
  readonly #decoders = new Map<OutputStream, StringDecoder>()
  #kept = new HeadAndTail(maxBytes)
  #breaks = 0
  #openLine = 0

  /** Adds output. A character that arrives in two chunks is added once it is complete. */
  push(stream: OutputStream, chunk: Buffer): void {
    let decoder = this.#decoders.get(stream)
    if (decoder === undefined) {
      decoder = new StringDecoder('utf8')
      this.#decoders.set(stream, decoder)
    }
    this.#keep(decoder.write(chunk))
  }

  /** Ends the streams and adds incomplete characters as replacement characters. */
  end(): void {
    for (const decoder of this.#decoders.values()) this.#keep(decoder.end())
    this.#decoders.clear()
  }

  take(): WrittenOutput {
    const { skipped } = this.#kept
    const written = { ...this.#kept.parts(), skipped, lines: this.#breaks + this.#openLine }
    this.#kept = new HeadAndTail(maxBytes)
    this.#breaks = 0
    this.#openLine = 0
    return written
  }

  #keep(text: string): void {
    if (text === '') return
    const bytes = Buffer.from(text)
    for (const byte of bytes) if (byte === lineBreak) this.#breaks += 1
    this.#openLine = bytes.at(-1) === lineBreak ? 0 : 1
    this.#kept.push(bytes)
  }
}
