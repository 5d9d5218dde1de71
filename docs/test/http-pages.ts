import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A call as the line below its heading describes it. */
export interface ShownCall {
  readonly method: string
  /** With parameters in braces. */
  readonly path: string
  readonly access: string
  readonly status: number
  readonly heading: string
}

interface PageBlock {
  readonly language: string
  /** The line of the opening fence, from 1. */
  readonly line: number
  readonly code: string
  readonly call: ShownCall | undefined
}

/** A block of commands, with the response that the page shows below it. */
export interface Commands extends PageBlock {
  readonly response?: PageBlock
  /** The status of the last response, if the page says it. */
  readonly status?: number
}

export interface HttpPage {
  readonly file: string
  readonly calls: readonly ShownCall[]
  readonly commands: readonly Commands[]
  /** Whole programs, in Python or JavaScript. */
  readonly programs: readonly PageBlock[]
}

/** The guide and the pages of the calls. */
export function httpPages(root: string): HttpPage[] {
  return ['docs/http-api.md', ...globSync('docs/http/*.md', { cwd: root }).sort()].map((file) =>
    parsePage(file, readFileSync(join(root, file), 'utf8')),
  )
}

function parsePage(file: string, text: string): HttpPage {
  const calls: ShownCall[] = []
  const blocks: PageBlock[] = []
  const lines = text.split('\n')
  let heading = ''
  let call: ShownCall | undefined
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index]!
    const [, title] = /^#+ (.+)$/.exec(line) ?? []
    if (title !== undefined) {
      heading = title
      call = undefined
    }
    const [, method, path, access, status] =
      /^`([A-Z]+) (\/\S+)` · (read|full|no) (?:access|token) · (\d+)$/.exec(line) ?? []
    if (method !== undefined) {
      call = { method, path: path!, access: access!, status: Number(status), heading }
      calls.push(call)
    }
    const [, language] = /^```(\S.*)$/.exec(line) ?? []
    if (language === undefined) continue
    const end = lines.indexOf('```', index + 1)
    blocks.push({ language, line: index + 1, code: lines.slice(index + 1, end).join('\n'), call })
    index = end
  }
  return {
    file,
    calls,
    commands: blocks.flatMap((block, index) =>
      block.language === 'sh' ? [withResponse(block, blocks[index + 1])] : [],
    ),
    programs: blocks.filter(({ language }) => language === 'python' || language === 'js'),
  }
}

/** The response is the next block, of JSON or of text; its status follows the language if it is not that of the call. */
function withResponse(block: PageBlock, next: PageBlock | undefined): Commands {
  const [, language, other] = /^(json|text)(?: (\d+))?$/.exec(next?.language ?? '') ?? []
  const status = other === undefined ? block.call?.status : Number(other)
  return {
    ...block,
    ...(language !== undefined && { response: { ...next!, language } }),
    ...(status !== undefined && { status }),
  }
}
