import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { builtinScript } from '../../src/registry/builtin-script.ts'
import { findAgent, knownAgents } from '../../src/registry/known-agents.ts'

const named = knownAgents.map((entry) => [entry.name, entry] as const)
const endpoint = /^[a-z0-9][a-z0-9.-]*[a-z0-9]:\d{1,5}$/
const variable = /^[A-Z][A-Z0-9_]*$/
const fromHome = /^\.[A-Za-z0-9._/-]+$/
const placeholders = new Set(['{url}', '{key}', '{model}', '{home}'])

describe('known agents', () => {
  test('have unique names and aliases', () => {
    const names = knownAgents.flatMap(({ name, aliases = [] }) => [name, ...aliases])
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9-]*$/)
  })

  test.each(named)('pins %s to exact versions', (_, { source }) => {
    if (source.kind !== 'npm') return
    expect(source.packages.length).toBeGreaterThan(0)
    for (const { name, version } of source.packages) {
      expect(name).toMatch(/^(@[a-z0-9-]+\/)?[a-z0-9.-]+$/)
      expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    }
    for (const path of [source.run.path, ...(source.postinstall === undefined ? [] : [source.postinstall])])
      expect(path).toMatch(/^node_modules\/(?!.*\.\.)/)
  })

  test.each(named)('lists valid endpoints, variables and files of %s', (_, entry) => {
    const { variables, files, alongside } = entry.credentials
    for (const one of entry.endpoints) expect(one).toMatch(endpoint)
    for (const one of [...variables, ...(alongside?.variables ?? [])]) expect(one).toMatch(variable)
    for (const one of [...files, ...(alongside?.files ?? [])]) {
      expect(one).toMatch(fromHome)
      expect(one).not.toContain('..')
    }
    expect(new Set(entry.endpoints).size).toBe(entry.endpoints.length)
  })

  test.each(named)('fills all model endpoint templates of %s', (_, entry) => {
    const { modelEndpoint } = entry
    if (modelEndpoint === undefined) return
    const { env, files, path, defaultModel } = modelEndpoint
    const templates = [...Object.values(env), ...Object.values(files)]
    expect(templates.some((template) => template.includes('{url}'))).toBe(true)
    expect(templates.some((template) => template.includes('{key}'))).toBe(true)
    expect(path).toMatch(/^(\/v1)?$/)
    for (const template of templates)
      for (const [found] of template.matchAll(/\{[a-z]+\}/g)) expect(placeholders).toContain(found)
    // A variable without a value is left out; a file cannot leave one out.
    if (Object.values(files).some((file) => file.includes('{model}'))) expect(defaultModel).toBeDefined()
    for (const [name, file] of Object.entries(files)) {
      expect(name).toMatch(fromHome)
      if (name.endsWith('.json')) expect(() => JSON.parse(file)).not.toThrow()
    }
  })

  test.each(named)(
    'lists the current value of each option of %s among its choices',
    (_, { options, capabilities }) => {
      const categories = options.map(({ category }) => category)
      expect(new Set(categories).size).toBe(categories.length)
      for (const { current, choices } of options) expect(choices.map(({ value }) => value)).toContain(current)
      if (categories.includes('mode')) expect(capabilities.modes).toBe(true)
      if (categories.includes('model')) expect(capabilities.models).toBe(true)
      if (categories.includes('thought_level')) expect(capabilities.thoughtLevels).toBe(true)
    },
  )

  test.each(named)('has a valid error pattern for %s', (_, { quirks }) => {
    if (quirks.errorMessage !== undefined) expect(() => new RegExp(quirks.errorMessage ?? '')).not.toThrow()
    expect(quirks.notes.length).toBeGreaterThan(0)
  })
})

test('finds an agent by its name and its aliases', () => {
  expect(findAgent('claude').title).toBe('Claude Code')
  expect(findAgent('mock').name).toBe('demo')
  expect(findAgent('kilocode').name).toBe('kilo')
})

test('prefers a custom agent to a known one of the same name', () => {
  const own = { ...findAgent('claude'), title: 'Mine' }
  expect(findAgent('claude', [own]).title).toBe('Mine')
  expect(findAgent('claude-code', [own]).title).toBe('Mine')
})

test('rejects an unknown agent and lists the known names', () => {
  expect(() => findAgent('klaude')).toThrow(/Unknown agent "klaude"; known agents: claude, codex, opencode/)
})

test('finds the script of a built-in agent in the source and in the build', () => {
  const { source } = findAgent('demo')
  if (source.kind !== 'builtin') throw new Error('The demo agent is part of the package.')
  expect(builtinScript(source)).toMatch(/packages\/agents\/src\/demo\/main\.ts$/)
})

test('names no package registry, because npm’s settings do', () => {
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
