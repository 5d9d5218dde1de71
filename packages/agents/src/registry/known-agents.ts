import { VitrineError } from '@vitrine/protocol'
import { amp } from './agents/amp.ts'
import { claude } from './agents/claude.ts'
import { cline } from './agents/cline.ts'
import { codex } from './agents/codex.ts'
import { copilot } from './agents/copilot.ts'
import { cursor } from './agents/cursor.ts'
import { demo } from './agents/demo.ts'
import { gemini } from './agents/gemini.ts'
import { kilo } from './agents/kilo.ts'
import { opencode } from './agents/opencode.ts'
import { pi } from './agents/pi.ts'
import { qwen } from './agents/qwen.ts'
import type { AgentEntry } from './entry.ts'

/** The built-in registry of agents, in list order. */
export const knownAgents: readonly AgentEntry[] = [
  claude,
  codex,
  opencode,
  gemini,
  qwen,
  pi,
  copilot,
  cline,
  kilo,
  amp,
  cursor,
  demo,
]

/**
 * Finds an agent by name or alias. Custom entries come first, so they may replace a known one.
 *
 * @example
 * findAgent('mock').name // 'demo'
 */
export function findAgent(name: string, custom: readonly AgentEntry[] = []): AgentEntry {
  const all = [...custom, ...knownAgents]
  const found =
    all.find((entry) => entry.name === name) ?? all.find(({ aliases }) => aliases?.includes(name) === true)
  if (found !== undefined) return found
  const names = [...new Set(all.map((entry) => entry.name))]
  throw new VitrineError(
    'agent_unknown',
    `Unknown agent ${JSON.stringify(name)}; known agents: ${names.join(', ')}.`,
    { details: { agent: name, known: names } },
  )
}
