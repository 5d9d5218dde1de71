import { VitrineError } from '../errors/vitrine-error.ts'

/** A Node `Readable` also says whether it was read before, and is destroyed when it is no longer wanted. */
interface Iterated extends AsyncIterable<Uint8Array> {
  readonly readableDidRead?: boolean
  readonly destroyed?: boolean
  destroy?(): unknown
}

/**
 * Turns a Node `Readable`, or any other async iterable, into a web stream that is read on demand. Everything else is
 * returned unchanged.
 *
 * @example
 * toWebStream('data', createReadStream('notes.txt'))
 */
export function toWebStream<Data>(
  name: string,
  data: Data,
): Exclude<Data, AsyncIterable<unknown>> | ReadableStream<Uint8Array>
export function toWebStream(name: string, data: unknown): unknown {
  if (data instanceof ReadableStream || !isIterated(data)) return data
  if (data.readableDidRead === true || data.destroyed === true)
    throw new VitrineError(
      'argument_invalid',
      `${name}: expected a stream that was not read yet, got one that was read or destroyed.`,
    )
  const iterator = data[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        // Also ends a `next()` that waits for data, after which `return()` is called.
        data.destroy?.()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

function isIterated(data: unknown): data is Iterated {
  return (
    typeof data === 'object' &&
    data !== null &&
    typeof Reflect.get(data, Symbol.asyncIterator) === 'function' &&
    // A web stream of another realm or of a polyfill.
    typeof Reflect.get(data, 'getReader') !== 'function'
  )
}
