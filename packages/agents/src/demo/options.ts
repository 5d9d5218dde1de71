import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk/unstable'

const modes = [
  { id: 'ask', name: 'Ask', description: 'Asks before it writes or runs something' },
  { id: 'auto', name: 'Auto', description: 'Never asks' },
  { id: 'plan', name: 'Plan', description: 'Looks and plans; writes and runs nothing' },
] as const

export type Mode = (typeof modes)[number]['id']

export function isMode(id: string): id is Mode {
  return modes.some((mode) => mode.id === id)
}

export function modeAfter(current: Mode): Mode {
  const next = modes[(modes.findIndex(({ id }) => id === current) + 1) % modes.length]
  return next?.id ?? 'ask'
}

export function modeState(current: Mode): SessionModeState {
  return { currentModeId: current, availableModes: [...modes] }
}

const choices = {
  model: {
    name: 'Model',
    values: [
      { value: 'storyteller', name: 'Storyteller', description: 'Takes its time' },
      { value: 'sprinter', name: 'Sprinter', description: 'Four times as fast, fewer words' },
    ],
  },
  thought_level: {
    name: 'Thinking',
    values: [
      { value: 'off', name: 'Off', description: 'Thinks in silence' },
      { value: 'low', name: 'Low', description: 'A thought now and then' },
      { value: 'high', name: 'High', description: 'Thinks aloud' },
    ],
  },
} as const

export type Choice = keyof typeof choices
export type Choices = Readonly<Record<Choice, string>>

export const firstChoices: Choices = { model: 'storyteller', thought_level: 'low' }

export function isChoice(id: string): id is Choice {
  return Object.hasOwn(choices, id)
}

export function isValueOf(id: Choice, value: unknown): value is string {
  return choices[id].values.some((one) => one.value === value)
}

export function configOptions(chosen: Choices): SessionConfigOption[] {
  return (Object.keys(choices) as Choice[]).map((id) => ({
    type: 'select',
    id,
    name: choices[id].name,
    category: id,
    currentValue: chosen[id],
    options: [...choices[id].values],
  }))
}
