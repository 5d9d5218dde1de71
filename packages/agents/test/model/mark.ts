/** An instruction to the model in the last message of the user. */
export type Mark =
  | { readonly kind: 'say'; readonly word: string }
  | { readonly kind: 'think'; readonly about: string }
  | { readonly kind: 'slow'; readonly about: string }
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'run-escalated'; readonly command: string }
  /** Calls a tool of the agent with this JSON. */
  | { readonly kind: 'call'; readonly name: string; readonly input: string }
  | { readonly kind: 'error'; readonly status: number }

const shapes: readonly [RegExp, (first: string, second: string) => Mark][] = [
  [/^say:(\S+)/, (word) => ({ kind: 'say', word })],
  [/^think:(.*)/, (about) => ({ kind: 'think', about: about.trim() })],
  [/^slow:(.*)/, (about) => ({ kind: 'slow', about: about.trim() })],
  [/^write:([^\s:]+):(.*)/, (path, content) => ({ kind: 'write', path, content: unescaped(content) })],
  [/^run:(\S.*)/, (command) => ({ kind: 'run', command })],
  [/^run-escalated:(\S.*)/, (command) => ({ kind: 'run-escalated', command })],
  [/^call:(\w+):(\{.*\})/, (name, input) => ({ kind: 'call', name, input })],
  [/^error:(\d{3})/, (status) => ({ kind: 'error', status: Number(status) })],
]

const start = /(?<![\w-])(?:say|think|slow|write|run|run-escalated|call|error):/g

/**
 * Finds the first mark of the last line that has one: agents add their own lines before the user's, and a command may
 * contain a mark itself (`run:echo say:hi`).
 *
 * @example findMark('<task>say:banana</task>') // → { kind: 'say', word: 'banana' }
 */
export function findMark(text: string): Mark | undefined {
  return text
    .split('\n')
    .map((line) => markIn(withoutClosingTags(line)))
    .findLast((mark) => mark !== undefined)
}

function markIn(line: string): Mark | undefined {
  for (const { index } of line.matchAll(start)) {
    const rest = line.slice(index)
    for (const [shape, make] of shapes) {
      const found = shape.exec(rest)
      if (found) return make(found[1] ?? '', found[2] ?? '')
    }
  }
  return undefined
}

/** Agents wrap the prompt in tags: `<user_input>run:ls</user_input>`. */
function withoutClosingTags(line: string): string {
  return line.replace(/(?:<\/[\w-]+>\s*)+$/, '').trimEnd()
}

function unescaped(content: string): string {
  return content.replaceAll('\\n', '\n')
}
