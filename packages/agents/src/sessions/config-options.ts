import { type ConfigChoice, type ConfigOption, type JsonObject, VitrineError } from '@vitrine/protocol'
import { listIn, objectIn, textIn } from './fields.ts'

/** How a choice is told to the agent: agents have three generations of it. */
export interface KnownOption extends ConfigOption {
  readonly via: 'config' | 'mode' | 'model'
}

/** What can be chosen, from the answer to `session/new`, `load`, `resume` or `fork`. */
export function readOptions(answer: unknown): KnownOption[] {
  const configured = listIn(answer, 'configOptions').flatMap(readConfigOption)
  const has = (category: string) => configured.some((option) => option.category === category)
  return [
    ...configured,
    ...(has('mode') ? [] : readChoices(objectIn(answer, 'modes'), modeNames)),
    ...(has('model') ? [] : readChoices(objectIn(answer, 'models'), modelNames)),
  ]
}

interface Names {
  readonly id: 'mode' | 'model'
  readonly name: string
  readonly list: string
  readonly current: string
  readonly value: string
}

const modeNames: Names = {
  id: 'mode',
  name: 'Mode',
  list: 'availableModes',
  current: 'currentModeId',
  value: 'id',
}
const modelNames: Names = {
  id: 'model',
  name: 'Model',
  list: 'availableModels',
  current: 'currentModelId',
  value: 'modelId',
}

function readChoices(state: JsonObject | undefined, names: Names): KnownOption[] {
  if (state === undefined) return []
  const { id, name, list, current, value } = names
  const choices = listIn(state, list).flatMap((one) => choiceOf(one, value))
  return [{ id, name, category: id, via: id, choices, ...currentOf(textIn(state, current)) }]
}

function readConfigOption(value: unknown): KnownOption[] {
  const id = textIn(value, 'id')
  const fields = objectIn(value)
  if (id === undefined || fields === undefined) return []
  const category = textIn(value, 'category')
  const choices = listIn(value, 'options').flatMap((one) => {
    const group = listIn(one, 'options')
    return group.length > 0 ? group.flatMap((inner) => choiceOf(inner, 'value')) : choiceOf(one, 'value')
  })
  return [
    {
      id,
      name: textIn(value, 'name') ?? id,
      via: 'config',
      choices: textIn(value, 'type') === 'boolean' ? onOff : choices,
      ...(category !== undefined && { category }),
      ...currentOf(fields.currentValue),
    },
  ]
}

const onOff: readonly ConfigChoice[] = [
  { value: 'true', name: 'On' },
  { value: 'false', name: 'Off' },
]

function currentOf(current: JsonObject[string]): Pick<ConfigOption, 'current'> {
  return typeof current === 'string' || typeof current === 'boolean' ? { current } : {}
}

function choiceOf(value: unknown, key: string): ConfigChoice[] {
  const id = textIn(value, key)
  if (id === undefined) return []
  const description = textIn(value, 'description')
  return [{ value: id, name: textIn(value, 'name') ?? id, ...(description !== undefined && { description }) }]
}

/** The option of a category, for a value that it has; says what there is when it has not. */
export function chosen(
  agent: string,
  options: readonly KnownOption[],
  wanted: { readonly category?: string; readonly id?: string },
  value: string | boolean,
): KnownOption {
  const { category, id } = wanted
  // Some have several of a category: the one that is named like it is meant.
  const option =
    id === undefined
      ? (options.find((one) => one.category === category && one.id === category) ??
        options.find((one) => one.category === category))
      : options.find((one) => one.id === id)
  const what = id ?? category ?? ''
  if (option === undefined) {
    const known = options.map((one) => one.id).join(', ')
    throw new VitrineError(
      'option_unknown',
      `The agent ${agent} has no ${what} to choose${known === '' ? '' : `; it has ${known}`}.`,
      { details: { agent, option: what } },
    )
  }
  const { choices } = option
  if (choices.length > 0 && !choices.some((choice) => choice.value === String(value))) {
    const known = choices.map((choice) => choice.value).join(', ')
    throw new VitrineError(
      'option_unknown',
      `The agent ${agent} has no ${what} "${String(value)}"; it has ${known}.`,
      { details: { agent, option: option.id, choices: choices.map((choice) => choice.value) } },
    )
  }
  return option
}

/** Throws when a session asks for what its agent does not have. */
export function mustHave(
  agent: string,
  options: readonly KnownOption[],
  wanted: { readonly model?: string; readonly mode?: string; readonly thoughtLevel?: string },
): void {
  const { model, mode, thoughtLevel } = wanted
  if (model !== undefined) chosen(agent, options, { category: 'model' }, model)
  if (mode !== undefined) chosen(agent, options, { category: 'mode' }, mode)
  if (thoughtLevel !== undefined) chosen(agent, options, { category: 'thought_level' }, thoughtLevel)
}

/** The options after one of them was set, or after the agent said so itself. */
export function withCurrent(
  options: readonly KnownOption[],
  id: string,
  current: string | boolean,
): KnownOption[] {
  return options.map((option) => (option.id === id ? { ...option, current } : option))
}

/** For lists and events: without how it is told to the agent. */
export function shownOptions(options: readonly KnownOption[]): ConfigOption[] {
  return options.map(({ via: _via, ...option }) => option)
}
