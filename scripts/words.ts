import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseSync, visitorKeys } from 'oxc-parser'
import { root } from './tools.ts'
import { allowedNames, privateNames, privateWords } from './words-table.ts'

/** A name that a source file declares: a binding, a member, a type or a key. */
export interface DeclaredName {
  readonly name: string
  readonly line: number
  readonly kind: 'type' | 'callable' | 'other'
  /** Set for types that the file exports. */
  readonly exportedType?: true
}

const sources = [
  'packages/*/{src,test,ui}/**/*.{ts,tsx,js}',
  '{conformance,bench}/{src,test,agents}/**/*.ts',
  'scripts/**/*.{ts,mjs}',
  '{docs,contract}/test/**/*.ts',
  'examples/**/*.ts',
]
const documents = ['*.md', '{docs,examples,bench,conformance,contract}/**/*.md', 'packages/**/*.md']

/** A sentence for each private word, riddle or homonym in the repository. */
export function wordComplaints(): string[] {
  const complaints: string[] = []
  const exportedTypes = new Map<string, string[]>()
  for (const path of filesOf(sources)) {
    const text = readFileSync(join(root, path), 'utf8')
    const { names, comments, strings } = readSource(path, text)
    complaints.push(...fileNameComplaints(path), ...nameComplaints(path, names))
    complaints.push(...commentComplaints(path, comments), ...stringComplaints(path, strings))
    for (const { name, exportedType } of names) {
      if (!exportedType || !path.includes('/src/')) continue
      const files = exportedTypes.get(name) ?? []
      exportedTypes.set(name, [...files.filter((file) => file !== path), path])
    }
  }
  for (const [name, files] of exportedTypes)
    if (files.length > 1) complaints.push(`${files.join(', ')}: ${name} is exported by each of them`)
  for (const path of filesOf(documents))
    complaints.push(...sentenceComplaints(path, readFileSync(join(root, path), 'utf8')))
  return complaints
}

function filesOf(patterns: readonly string[]): string[] {
  return (
    globSync(patterns, { cwd: root, exclude: (name) => /(^|\/)(node_modules|dist|\.tmp)$/.test(name) })
      // The table of words has each of them.
      .filter((path) => !/(^|\/)(node_modules|dist)\/|^scripts\/words-table\.ts$/.test(path))
      .toSorted()
  )
}

interface Source {
  readonly names: readonly DeclaredName[]
  readonly comments: readonly Located[]
  readonly strings: readonly Located[]
}

interface Located {
  readonly text: string
  readonly line: number
}

interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

export function readSource(path: string, text: string): Source {
  const { program, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const lineAt = lineCounter(text)
  const names: DeclaredName[] = []
  const strings: Located[] = []
  visit(program as unknown as SyntaxNode, undefined, (node, parent) => {
    if (node.type === 'Literal' && typeof node.value === 'string')
      strings.push({ text: node.value, line: lineAt(node.start) })
    const declared = declaredName(node, parent)
    if (declared !== undefined) names.push({ ...declared, line: lineAt(node.start) })
  })
  return {
    names,
    strings,
    comments: comments.map(({ value, start }) => ({ text: value, line: lineAt(start) })),
  }
}

function visit(
  node: SyntaxNode,
  parent: SyntaxNode | undefined,
  onNode: (node: SyntaxNode, parent: SyntaxNode | undefined) => void,
): void {
  onNode(node, parent)
  for (const key of visitorKeys[node.type] ?? []) {
    for (const child of [node[key]].flat())
      if (child !== null && typeof child === 'object') visit(child as SyntaxNode, node, onNode)
  }
}

const typeDeclarations = new Set([
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSEnumDeclaration',
  'ClassDeclaration',
])
const members = new Set([
  'PropertyDefinition',
  'MethodDefinition',
  'TSPropertySignature',
  'TSMethodSignature',
])
const callables = new Set(['MethodDefinition', 'TSMethodSignature'])

/** The name in a node that declares one, and nothing for a use of a name. */
function declaredName(
  node: SyntaxNode,
  parent: SyntaxNode | undefined,
): Omit<DeclaredName, 'line'> | undefined {
  const { type } = node
  if (typeDeclarations.has(type)) {
    const name = nameIn(node.id)
    if (name === undefined) return undefined
    return { name, kind: 'type', ...(parent?.type === 'ExportNamedDeclaration' && { exportedType: true }) }
  }
  if (type === 'FunctionDeclaration') return named(node.id, 'callable')
  if (members.has(type) || (type === 'Property' && parent?.type === 'ObjectExpression')) {
    if (node.computed === true) return undefined
    const value = node.value as SyntaxNode | null | undefined
    const isCallable = callables.has(type) || node.method === true || isFunction(value)
    return named(node.key, isCallable ? 'callable' : 'other')
  }
  if (type === 'VariableDeclarator')
    return named(node.id, isFunction(node.init as SyntaxNode | null) ? 'callable' : 'other')
  if (type === 'Identifier' && isBinding(node, parent)) return named(node, 'other')
  return undefined
}

function isFunction(node: SyntaxNode | null | undefined): boolean {
  return node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression'
}

/** Parameters and the parts of patterns; a variable's own name is read with its declaration. */
function isBinding(node: SyntaxNode, parent: SyntaxNode | undefined): boolean {
  if (parent === undefined) return false
  if (Array.isArray(parent.params)) return parent.params.includes(node)
  if (parent.type === 'Property') return parent.value === node && parent.shorthand === true
  return parent.type === 'ArrayPattern' || parent.type === 'RestElement'
}

function named(node: unknown, kind: DeclaredName['kind']): Omit<DeclaredName, 'line'> | undefined {
  const name = nameIn(node)
  return name === undefined ? undefined : { name, kind }
}

function nameIn(node: unknown): string | undefined {
  const { name, value } = (node ?? {}) as { readonly name?: unknown; readonly value?: unknown }
  if (typeof name === 'string') return name
  return typeof value === 'string' ? value : undefined
}

function lineCounter(text: string): (offset: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return (offset) => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}

function isAllowed(name: string, path: string): boolean {
  return allowedNames.some(
    (row) => row.name === name && (row.path === undefined || path.startsWith(row.path)),
  )
}

export function nameComplaints(path: string, names: readonly DeclaredName[]): string[] {
  return names.flatMap(({ name, line, kind }) => {
    const found = privateNames.find(
      (row) => row.name === name && (row.only === undefined || row.only === kind),
    )
    const word = privateWords.find(({ pattern }) => pattern.test(name))
    const better = found?.instead ?? word?.instead
    if (better === undefined || isAllowed(name, path)) return []
    return [`${path}:${line}: ${name}: say ${better}`]
  })
}

function fileNameComplaints(path: string): string[] {
  const parts = path.split('/').map((part) => basename(part).replace(/\..*$/, ''))
  return parts.flatMap((part) => {
    const camel = part.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
    const word = privateWords.find(({ pattern }) => pattern.test(camel))
    const found = privateNames.find(
      (row) => row.files === true && row.name.toLowerCase() === camel.toLowerCase(),
    )
    const better = word?.instead ?? found?.instead
    return better === undefined || isAllowed(part, path) ? [] : [`${path}: ${part}: say ${better}`]
  })
}

function stringComplaints(path: string, strings: readonly Located[]): string[] {
  return strings.flatMap(({ text, line }) => {
    const found = privateNames.find((row) => row.strings === true && row.name === text)
    return found === undefined || path.startsWith('scripts/')
      ? []
      : [`${path}:${line}: '${text}': say ${found.instead}`]
  })
}

const riddle = /^(What|Who|Whoever|Whom|Of whom)\b/

/** Comments that begin with a subject-less relative clause; questions are meant. */
export function commentComplaints(path: string, comments: readonly Located[]): string[] {
  return comments.flatMap(({ text, line }) => {
    const start = text.replace(/^[\s*]+/, '')
    const [sentence = ''] = start.split(/(?<=[.?!:])\s/)
    return riddle.test(start) && !sentence.endsWith('?')
      ? [`${path}:${line}: a comment begins with "${riddle.exec(start)?.[0]}": name the actor`]
      : []
  })
}

/** The same for sentences, list items and cells of a document; headings, code and questions aside. */
export function sentenceComplaints(path: string, text: string): string[] {
  const complaints: string[] = []
  let inCode = false
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(line)) inCode = !inCode
    if (inCode || /^\s*#/.test(line)) continue
    const cells = line.trim().startsWith('|') ? line.split('|') : [line]
    for (const cell of cells) {
      const sentences = cell.split(/(?<=[.!?:])\s+/).map((one) => one.replace(/^[\s>*_-]+|^\d+\.\s+/, ''))
      for (const sentence of sentences)
        if (riddle.test(sentence) && !/\?\W*$/.test(sentence))
          complaints.push(
            `${path}:${index + 1}: a sentence begins with "${riddle.exec(sentence)?.[0]}": name the actor`,
          )
    }
  }
  return complaints
}
