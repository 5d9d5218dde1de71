/** The texts of a story and the file that it writes. */
export interface Tale {
  readonly file: string
  readonly thoughts: readonly string[]
  readonly greeting: string
  readonly steps: readonly [look: string, write: string, check: string]
  /** The new text of the file; `before` is its text from an earlier story. */
  readonly text: (before: string | undefined) => string
  readonly check: (file: string) => string
  readonly ending: (file: string) => string
}

const mark = 'made by the Vitrine demo agent'

/** Whether an earlier story wrote the file; other files are never changed. */
export function isDemoFile(text: string): boolean {
  return text.includes(mark)
}

export function taleFor(prompt: string): Tale {
  return /\b(page|site|website|html|landing|web|app)\b/i.test(prompt) ? pageTale(prompt) : noteTale(prompt)
}

function pageTale(prompt: string): Tale {
  const topic = topicOf(prompt) ?? 'Something new'
  return {
    file: 'index.html',
    thoughts: [
      'A page, then. One file, no build step: ',
      'a headline, one honest sentence and some air around them. ',
      'First I look at what is there, so that I break nothing.',
    ],
    greeting: 'A page it is. Let me look around first.',
    steps: ['Look around the workspace', 'Write the page', 'Check that it is all there'],
    text: (before) =>
      before === undefined ? page(topic) : before.replace('</main>', `${again}\n    </main>`),
    check: (file) => `wc -c ${file} && grep -c '<' ${file} && grep '<h1>' ${file}`,
    ending: (file) =>
      `Your page is ready: **${file}**, one file that opens in any browser. The headline says “${topic}”; change it and the rest follows.`,
  }
}

function noteTale(prompt: string): Tale {
  const asked = firstLine(prompt, 200)
  return {
    file: 'hello.md',
    thoughts: [
      'Somebody is here. ',
      'I have no model to think with, but I can show what an agent does: ',
      'look, plan, ask, write, run. A small note will do.',
    ],
    greeting: 'Hello! Let me show you around; I look at the workspace first.',
    steps: ['Look around the workspace', 'Write a note', 'Read it back'],
    text: (before) =>
      before === undefined
        ? `# Hello\n\nYou said:\n\n> ${asked}\n\nThis note is real: it was ${mark}, with your permission.\n`
        : `${before.trimEnd()}\n\nAnd later you said:\n\n> ${asked}\n`,
    check: (file) => `cat ${file}`,
    ending: (file) =>
      `Done. **${file}** holds your words, and you have seen all that an agent does with them.`,
  }
}

const again = '      <p>And it was touched again, because you asked.</p>'

function page(topic: string): string {
  const safe = topic.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>${safe}</title>
    <style>
      body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 1.2rem/1.6 system-ui;
             color: #21302e; background: linear-gradient(160deg, #f7f2e8, #cfe6e0) }
      main { max-width: 32rem; padding: 2rem }
      h1 { font-size: 3rem; line-height: 1.1; margin: 0 0 1rem }
    </style>
  </head>
  <body>
    <main>
      <h1>${safe}</h1>
      <p>Small today, and already here.</p>
    </main>
  </body>
</html>
<!-- ${mark} -->
`
}

/** Finds the topic of a prompt: “… for my bakery” gives “My bakery”. */
function topicOf(prompt: string): string | undefined {
  const [, topic] = /\b(?:for|about)\s+(.{2,60}?)[\s.!?]*$/im.exec(firstLine(prompt, 200)) ?? []
  return topic === undefined ? undefined : topic.charAt(0).toUpperCase() + topic.slice(1)
}

export function firstLine(text: string, maxChars: number): string {
  const line = text.trim().split('\n')[0] ?? ''
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1)}…`
}
