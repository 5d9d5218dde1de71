import { type EventData, escapeForTerminal, type SandboxEvent } from 'vitrine'

const indent = ' '.repeat(8)
const width = 72

/** Prints the events of a turn as they come: the agent's words, its tool calls and the files that change. */
export class LiveView {
  /** The length of the agent's current line; 0 if there is none. */
  #column = 0
  /** The white space before the agent's next word. */
  #gap = ''

  show(event: SandboxEvent): void {
    const update = updateOf(event)
    if (update?.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
      this.#tokens(update.content.text)
    if (update?.sessionUpdate === 'tool_call') this.#line('tool', update.title)
    if (event.type.startsWith('file.')) this.#line('file', `${event.type.slice(5)} ${event.data.path}`)
    if (event.type === 'turn.finished') this.#endLine()
  }

  /** Wraps words as they come: a token may have several, and may end within one. */
  #tokens(text: string): void {
    for (const piece of escapeForTerminal(text).split(/(\s+)/)) {
      if (piece.trim() === '') this.#gap ||= piece
      else this.#word(piece)
    }
  }

  #word(word: string): void {
    const isFirst = this.#column === 0
    const isTooLong = this.#column + this.#gap.length + word.length > width
    const before = isFirst ? '  agent ' : isTooLong && this.#gap !== '' ? `\n${indent}` : this.#gap
    process.stdout.write(before + word)
    this.#column = before.startsWith('\n')
      ? indent.length + word.length
      : this.#column + before.length + word.length
    this.#gap = ''
  }

  #line(label: string, text: string): void {
    this.#endLine()
    console.log(`  ${label.padEnd(6)}${escapeForTerminal(text)}`)
  }

  #endLine(): void {
    if (this.#column > 0) process.stdout.write('\n')
    this.#column = 0
    this.#gap = ''
  }
}

/** The update in a message of an agent. */
function updateOf({ type, data }: SandboxEvent) {
  if (type !== 'agent.message') return undefined
  const { message } = data as EventData<'agent.message'>
  return message.method === 'session/update' ? message.params.update : undefined
}
