import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = globSync('**/*.md', {
  cwd: root,
  exclude: (path) => ['node_modules', '.git', '.tmp', 'dist'].includes(path.split('/').at(-1)!),
}).sort()

/** The relative targets of a document's links and images, outside code. */
function relativeLinks(text: string): string[] {
  const prose = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').replaceAll(/`[^`\n]*`(?!\])/g, '')
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!)
  const sources = [...prose.matchAll(/\bsrc(?:set)?="([^"]+)"/g)].map(([, target]) => target!)
  return [...targets, ...sources].filter((target) => !/^[a-z]+:/.test(target))
}

/** The anchors of a document's headings, as a code host makes them. */
function anchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe.each(documents)('%s', (document) => {
  const links = relativeLinks(read(document))

  it('links only to files and headings that exist', () => {
    const broken = links.filter((link) => {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? document : join(dirname(document), path)
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !anchors(read(target)).includes(anchor)
    })
    expect(broken).toEqual([])
  })
})

describe('ARCHITECTURE.md', () => {
  const text = read('ARCHITECTURE.md')

  it('has at most 8,000 bytes', () => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_000)
  })

  it('has a row for every package and every other folder of code', () => {
    const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)
    const rows = [...text.matchAll(/^\| \[`([^`]+)`\]/gm)].map(([, folder]) => folder)
    expect(rows).toEqual(
      expect.arrayContaining([...packages, 'conformance', 'contract', 'bench', 'examples', 'scripts']),
    )
    for (const folder of rows) expect(existsSync(join(root, folder!)), folder).toBe(true)
  })
})

it.each(['docs/guarantees.md', 'docs/threats.md'])('%s names only files and folders that exist', (page) => {
  const paths = [...read(page).matchAll(/`((?:packages|conformance)\/[^`]+)`/g)]
  expect(paths.length).toBeGreaterThan(0)
  for (const [, path] of paths) expect(existsSync(join(root, path!)), path).toBe(true)
})

it('docs/threats.md names for each claim a test that exists', () => {
  const text = read('docs/threats.md')
  const claims = text.split('\n').filter((line) => /^\| .*\| `(?:packages|conformance)\//.test(line))
  const tests = [...text.matchAll(/`((?:packages|conformance)\/[^`]+)`: “([^”]+)”/g)]
  expect(tests).toHaveLength(claims.length)
  for (const [, path, name] of tests) expect(read(path!).includes(name!), `${path}: ${name}`).toBe(true)
})

it('the index of decisions names every decision with its title', () => {
  const index = read('docs/decisions/README.md')
  const decisions = readdirSync(join(root, 'docs/decisions')).filter((name) => /^\d/.test(name))
  for (const name of decisions) {
    const [, number, title] = /^# (\d{3}): (.+)$/m.exec(read(`docs/decisions/${name}`))!
    expect(index).toContain(`- [${number}](${name}): ${title}\n`)
  }
})
