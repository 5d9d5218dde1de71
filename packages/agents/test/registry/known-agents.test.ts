import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { builtinScript } from '../../src/registry/builtin-script.ts'
import { findAgent, knownAgents } from '../../src/registry/known-agents.ts'

const named = knownAgents.map((entry) => [entry.name, entry] as const)
const endpoint = /^[a-z0-9][a-z0-9.-]*[a-z0-9]:\d{1,5}$/
const variable = /^[A-Z][A-Z0-9_]*$/
const fromHome = /^\.[A-Za-z0-9._/-]+$/
const placeholders = new Set(['{url}', '{key}', '{model}', '{home}'])

describe('every known agent', () => {
  test('has names that nobody else has', () => {
    const names = knownAgents.flatMap(({ name, aliases = [] }) => [name, ...aliases])
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9-]*$/)
  })

  test.each(named)('%s is pinned to exact versions', (_, { source }) => {
    if (source.kind !== 'npm') return
    expect(source.packages.length).toBeGreaterThan(0)
    for (const { name, version } of source.packages) {
      expect(name).toMatch(/^(@[a-z0-9-]+\/)?[a-z0-9.-]+$/)
      expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    }
    for (const path of [source.run.path, ...(source.postinstall === undefined ? [] : [source.postinstall])])
      expect(path).toMatch(/^node_modules\/(?!.*\.\.)/)
  })

  test.each(named)('%s names hosts with ports, variables and files as they are used', (_, entry) => {
    const { variables, files, alongside } = entry.credentials
    for (const one of entry.endpoints) expect(one).toMatch(endpoint)
    for (const one of [...variables, ...(alongside?.variables ?? [])]) expect(one).toMatch(variable)
    for (const one of [...files, ...(alongside?.files ?? [])]) {
      expect(one).toMatch(fromHome)
      expect(one).not.toContain('..')
    }
    expect(new Set(entry.endpoints).size).toBe(entry.endpoints.length)
  })

  test.each(named)('%s is pointed at another model by templates that can be filled', (_, entry) => {
    const { modelEndpoint } = entry
    if (modelEndpoint === undefined) return
    const { env, files, path, defaultModel } = modelEndpoint
    const templates = [...Object.values(env), ...Object.values(files)]
    expect(templates.some((template) => template.includes('{url}'))).toBe(true)
    expect(templates.some((template) => template.includes('{key}'))).toBe(true)
    expect(path).toMatch(/^(\/v1)?$/)
    for (const template of templates)
      for (const [found] of template.matchAll(/\{[a-z]+\}/g)) expect(placeholders).toContain(found)
    // Left out where there is no model; in a file it cannot be.
    if (Object.values(files).some((file) => file.includes('{model}'))) expect(defaultModel).toBeDefined()
    for (const [name, file] of Object.entries(files)) {
      expect(name).toMatch(fromHome)
      if (name.endsWith('.json')) expect(() => JSON.parse(file)).not.toThrow()
    }
  })

  test.each(named)('%s has options whose current value can be chosen', (_, { options, capabilities }) => {
    const categories = options.map(({ category }) => category)
    expect(new Set(categories).size).toBe(categories.length)
    for (const { current, choices } of options) expect(choices.map(({ value }) => value)).toContain(current)
    if (categories.includes('mode')) expect(capabilities.modes).toBe(true)
    if (categories.includes('model')) expect(capabilities.models).toBe(true)
    if (categories.includes('thought_level')) expect(capabilities.thoughtLevels).toBe(true)
  })

  test.each(named)('%s has signs of errors that are regular expressions', (_, { quirks }) => {
    if (quirks.errorMessage !== undefined) expect(() => new RegExp(quirks.errorMessage ?? '')).not.toThrow()
    expect(quirks.notes.length).toBeGreaterThan(0)
  })
})

test('an agent is found by its name and by its other names', () => {
  expect(findAgent('claude').title).toBe('Claude Code')
  expect(findAgent('mock').name).toBe('demo')
  expect(findAgent('kilocode').name).toBe('kilo')
})

test('an agent of one’s own comes before a known one of the same name', () => {
  const own = { ...findAgent('claude'), title: 'Mine' }
  expect(findAgent('claude', [own]).title).toBe('Mine')
  expect(findAgent('claude-code', [own]).title).toBe('Mine')
})

test('an agent that nobody knows is refused with the names there are', () => {
  expect(() => findAgent('klaude')).toThrow(/no agent "klaude"; there are claude, codex, opencode/)
})

test('an agent of this package is a script beside it, in the source as in the build', () => {
  const { source } = findAgent('demo')
  if (source.kind !== 'builtin') throw new Error('The demo agent is part of the package.')
  expect(builtinScript(source)).toMatch(/packages\/agents\/src\/demo\/main\.ts$/)
})

test('no registry of packages is named anywhere: npm’s own settings say where they come from', () => {
  const source = new URL('../../src/', import.meta.url)
  const files = ['registry', 'install', 'credentials'].flatMap((folder) =>
    readdirSync(new URL(folder, source), { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => `${file.parentPath}/${file.name}`),
  )
  expect(files.length).toBeGreaterThan(20)
  for (const file of files)
    expect(readFileSync(file, 'utf8')).not.toMatch(/registry\.[a-z]+\.[a-z]|npmjs|npmmirror/)
})
