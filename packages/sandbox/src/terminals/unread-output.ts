import { StringDecoder } from 'node:string_decoder'
import { HeadAndTail } from '../output/head-and-tail.ts'
import type { OutputStream } from '../output/recorder.ts'
import type { WrittenOutput } from './fit-tokens.ts'

/** What is kept between two answers, however long nobody asks. */
const maxBytes = 1024 * 1024
const lineBreak = 10

/** What a process has written since somebody last asked. */
export class UnreadOutput {
  readonly #decoders = new Map<OutputStream, StringDecoder>()
  #kept = new HeadAndTail(maxBytes)
  #breaks = 0
  #openLine = 0

  /** A character that comes in two pieces is unread until it is whole. */
  push(stream: OutputStream, chunk: Buffer): void {
    let decoder = this.#decoders.get(stream)
    if (decoder === undefined) {
      decoder = new StringDecoder('utf8')
      this.#decoders.set(stream, decoder)
    }
    this.#keep(decoder.write(chunk))
  }

  /** Nothing follows: halves of characters are all there will be of them. */
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
