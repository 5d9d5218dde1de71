import { readSync } from 'node:fs'
import { fileError } from '../directories/errors.ts'
import { invalid } from '../refusal.ts'

const windowBytes = 512 * 1024

/** Reads small, mostly consecutive parts of a file through one buffer. A part is valid until the next call. */
export class FileWindow {
  readonly #fd: number
  readonly #size: number
  readonly #buffer = Buffer.allocUnsafeSlow(windowBytes)
  #from = 0
  #to = 0

  constructor(fd: number, size: number) {
    this.#fd = fd
    this.#size = size
  }

  bytes(at: number, length: number): Buffer {
    if (at < 0 || at + length > this.#size || length > windowBytes) throw invalid('is truncated or damaged')
    if (at < this.#from || at + length > this.#to) this.#load(at)
    if (at + length > this.#to) throw invalid('is truncated or damaged')
    return this.#buffer.subarray(at - this.#from, at - this.#from + length)
  }

  #load(at: number): void {
    this.#from = at
    this.#to = at
    try {
      for (let count = -1; count !== 0 && this.#to - at < windowBytes; ) {
        count = readSync(this.#fd, this.#buffer, this.#to - at, windowBytes - (this.#to - at), this.#to)
        this.#to += count
      }
    } catch (error) {
      throw fileError(error, 'the archive')
    }
  }
}
