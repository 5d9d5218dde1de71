import type { Page, ReadOptions } from './reading.ts'

/**
 * Reads all pages in the requested order, each when it is asked for.
 *
 * @example
 * for await (const { events } of readPages(sandbox.journal, { types: ['file.*'] })) show(events)
 */
export function readPages<const Pattern extends string = string>(
  reader: PageReader,
  options?: ReadOptions<Pattern>,
): AsyncGenerator<Page<Pattern>, undefined>
export async function* readPages(
  reader: PageReader,
  options: ReadOptions = {},
): AsyncGenerator<Page, undefined> {
  // The cursor of the first page is past `at`.
  const { at: _first, ...rest } = options
  const edge = options.order === 'desc' ? 'before' : 'after'
  let page = await reader.read(options)
  yield page
  while (!page.end) {
    page = await reader.read({ ...rest, [edge]: page.cursor })
    yield page
  }
  return undefined
}

interface PageReader {
  read(options?: ReadOptions): Promise<Page>
}
