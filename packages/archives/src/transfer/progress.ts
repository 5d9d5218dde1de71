import type { DirectoryProgress } from '@vitrine/protocol'

export type OnTransferProgress = (progress: DirectoryProgress) => void

/** Counts the entries and bytes of a transfer, and reports them for each part of the archive. */
export class TransferProgress {
  readonly #onProgress: OnTransferProgress
  #entries = 0
  #bytes = 0

  constructor(onProgress: OnTransferProgress = () => undefined) {
    this.#onProgress = onProgress
  }

  readonly entry = (): void => {
    this.#entries += 1
  }

  readonly part = (bytes: number): void => {
    this.#bytes += bytes
    this.#onProgress({ entries: this.#entries, bytes: this.#bytes })
  }
}
